// @ts-check
/** The console's first view: numbers, charts of `/metrics`, the log level, and reading the configuration again. */

import { Trouble, ask, metrics } from '/admin-api.js';
import { Chart } from '/admin-chart.js';
import { at } from '/admin-parts.js';
import { largest, quantile, rates, readMetrics, sums, total } from '/admin-metrics.js';

/** How often everything is asked, in milliseconds. */
const EVERY = 5_000;

const perSecond = (/** @type {number} */ value) => `${value < 10 ? value.toFixed(1) : Math.round(value)}/s`;
const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en');
const time = (/** @type {number} */ value) => value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms` : `${value.toFixed(1)} s`;

/** Made when they are first in sight; what they have drawn stays. @type {Record<string, Chart>|null} */
let charts = null;
/** @type {{at: number, requests: Map<string, number>, refusals: Map<string, number>, durations: Map<string, number>}|null} */
let before = null;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;
/** @type {{tell: (error: unknown, doing: string) => void, calm: () => void}|null} */
let page = null;

/** @param {NonNullable<typeof page>} given how trouble is told */
export function startOverview(given) {
    page = given;
    charts ??= {
        requests: new Chart(at('chart-requests'), 'Requests', perSecond, EVERY),
        refusals: new Chart(at('chart-refusals'), 'Refusals by reason', perSecond, EVERY),
        open: new Chart(at('chart-open'), 'Open', whole, EVERY),
        latency: new Chart(at('chart-latency'), 'Latency', time, EVERY),
    };
    showLevel();
    return turn();
}

export function stopOverview() {
    clearTimeout(timer);
    page = null;
}

async function turn() {
    clearTimeout(timer);
    try {
        // Not requested while the page is hidden.
        if (document.visibilityState === 'visible') {
            const [overview, text] = await Promise.all([ask('overview'), metrics().catch(() => '')]);
            if (!page) return;
            showFacts(overview);
            if (text) addReading(text);
            page.calm();
        }
    } catch (error) {
        at('ready').textContent = 'no answer';
        at('ready').dataset.tone = 'bad';
        page?.tell(error, 'Asking the gateway');
    }
    if (page) timer = setTimeout(turn, EVERY);
}

/** @param {string} text of /metrics */
function addReading(text) {
    const reading = readMetrics(text);
    const now = {
        at: performance.now(),
        requests: sums(reading, 'gatehouse_requests_total', ({ status = '?' }) => `${status[0]}xx`),
        refusals: sums(reading, 'gatehouse_refusals_total', ({ code, reason }) => reason || code || '?'),
        durations: sums(reading, 'gatehouse_request_duration_seconds_bucket', ({ le }) => le),
    };
    const open = new Map();
    for (const [name, metric] of [['sockets', 'gatehouse_sockets'], ['leases', 'gatehouse_leases']]) {
        const value = total(reading, metric);
        if (value !== null) open.set(name, value);
    }
    charts?.open.add(open);
    if (before) {
        const seconds = (now.at - before.at) / 1000;
        charts?.requests.add(new Map([...rates(before.requests, now.requests, seconds)].sort()));
        charts?.refusals.add(largest(new Map([...rates(before.refusals, now.refusals, seconds)].filter(([, rate]) => rate > 0)), 5));
        const { durations } = before;
        charts?.latency.add(new Map([0.5, 0.95, 0.99].map((share) =>
            [`p${share * 100}`, quantile(durations, now.durations, share)])));
    }
    before = now;
}

/** @param {any} overview */
function showFacts(overview) {
    const { store = {}, reloads = {} } = overview;
    at('node').textContent = [overview.node, overview.version].filter(Boolean).join(' · ');
    at('ready').textContent = overview.ready ? 'ready' : 'not ready';
    at('ready').dataset.tone = overview.ready ? 'good' : 'bad';
    /** @type {[string, unknown, string?][]} */
    const facts = [
        ['Up for', duration(overview.uptime_seconds)],
        ['Store', `${store.kind ?? '–'}${store.reachable === false ? ', away' : ''}`, store.reachable === false ? 'bad' : ''],
        ['Feed heard', store.feed_age_seconds === undefined || store.feed_age_seconds === null ? '–' : `${Number(store.feed_age_seconds).toFixed(1)} s ago`,
            store.feed_age_seconds > 5 ? 'warn' : ''],
        ['Sockets', whole(overview.sockets ?? 0)],
        ['Leases', whole(overview.leases ?? 0)],
        ['Upstreams down', whole(overview.upstreams_down ?? 0), overview.upstreams_down > 0 ? 'bad' : ''],
        ['Refusals kept', whole(overview.recent_refusals ?? 0)],
    ];
    at('facts').replaceChildren(...facts.map(([name, text, tone = '']) => {
        const [tile, term, value] = ['div', 'dt', 'dd'].map((tag) => document.createElement(tag));
        tile.className = tone;
        term.textContent = name;
        value.textContent = String(text);
        tile.append(term, value);
        return tile;
    }));
    if (reloads.last_at) at('reloaded').textContent = `Last read ${new Date(reloads.last_at).toLocaleString()}: ${reloads.last_result ?? ''}`;
    else if (!at('reloaded').textContent) at('reloaded').textContent = 'Not read again since the start.';
}

/** @param {number} seconds */
function duration(seconds) {
    if (!(seconds >= 0)) return '–';
    const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
    if (days > 0) return `${days} d ${hours} h`;
    return hours > 0 ? `${hours} h ${minutes} min` : seconds >= 120 ? `${minutes} min` : `${Math.round(seconds)} s`;
}

// MARK: Log level and reload

async function showLevel() {
    try {
        sayLevel(await ask('log-level'));
    } catch (error) {
        if (!(error instanceof Trouble) || error.status !== 404) return page?.tell(error, 'Asking for the log level');
        at('level').textContent = 'The program around this gateway does not offer it.';
        at('level-form').hidden = true;
    }
}

/** @param {any} answer */
function sayLevel({ level, until }) {
    at('level').textContent = until ? `${level} until ${new Date(until).toLocaleTimeString()}, then as configured.` : `${level}, as configured.`;
    at('level-choice').value = level;
}

at('level-form').addEventListener('submit', async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const json = { level: at('level-choice').value, seconds: Number(at('level-time').value) };
    try { sayLevel(await ask('log-level', { method: 'PUT', json })); } catch (error) { page?.tell(error, 'Setting the log level'); }
});

at('reload').addEventListener('click', async () => {
    at('reload').disabled = true;
    at('reloaded').textContent = 'Reading…';
    try {
        const answer = await ask('reload', { method: 'POST' });
        const keys = answer?.need_restart ?? [];
        at('reloaded').textContent = keys.length > 0 ? `Read. A restart is needed for: ${keys.join(', ')}.` : 'Read, and in use.';
    } catch (error) {
        at('reloaded').textContent = 'Nothing has changed.';
        page?.tell(error, 'Reading the configuration');
    } finally {
        at('reload').disabled = false;
    }
});
