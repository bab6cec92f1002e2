// @ts-check
/** The operator's console, served by the admin listener: what is there, who holds it, why it was refused. */

import { Trouble, ask, hasToken, tokenOfAddress, useToken } from '/admin-api.js';
import { startOverview, stopOverview } from '/admin-overview.js';
import { at, badge, clipped, make, span } from '/admin-parts.js';
import { ListView } from '/admin-rows.js';
import { MEANINGS } from '/.gatehouse/words.js';

// MARK: Trouble

/** @param {unknown} error @param {string} doing */
function tell(error, doing) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    const trouble = error instanceof Trouble ? error : new Trouble(0, 'unexpected', String(error));
    if (trouble.status === 401 || (trouble.status === 403 && trouble.code === 'insufficient_scope')) return enter(trouble);
    at('trouble').textContent = `${doing}: ${trouble.message}${trouble.status ? ` (${trouble.status} ${trouble.code})` : ''}`;
    at('trouble').hidden = false;
}

function calm() { at('trouble').hidden = true; }

/** Says something to assistive technology. @param {string} text */
function say(text) { at('said').textContent = text; }

// MARK: Lists

const page = { tell, calm, say };
const short = (/** @type {string} */ id) => make('code', '', id.length > 17 ? `${id.slice(0, 16)}…` : id);
const who = (/** @type {any} */ row) => clipped(row.email ?? row.user_id ?? row.user ?? (row.client_id ? `client ${row.client_id}` : 'none'));

/** @type {ListView} */
const sessions = new ListView({
    name: 'sessions', member: 'sessions',
    path: () => `sessions?limit=1000${at('sessions-state').value ? `&state=${at('sessions-state').value}` : ''}`,
    text: (row) => `${row.id} ${row.user_id ?? ''} ${row.email ?? ''} ${row.tenant_id ?? ''}`,
    columns: [
        { name: 'Session', cell: (/** @type {any} */ row) => short(row.id) },
        { name: 'Owner', cell: who },
        { name: 'Tenant', cell: (/** @type {any} */ row) => clipped(row.tenant_id) },
        { name: 'State', cell: (/** @type {any} */ row) => badge(row.state, row.state === 'authenticated' ? 'good' : '') },
        { name: 'Age', className: 'num', cell: (/** @type {any} */ row) => span(row.created_at) },
        { name: 'Ends in', className: 'num', cell: (/** @type {any} */ row) => span(row.expires_at) },
        { name: 'Sockets', className: 'num', cell: (/** @type {any} */ row) => String(row.sockets ?? 0) },
        { name: 'End', className: 'act', cell: (/** @type {any} */ row) => sessions.endCell(row, 'session', () => sessions.end(
            row, 'session', `${row.id} of ${row.email ?? row.user_id ?? 'no user'}. Its sockets close (4403), its login is over.`,
            `sessions/${encodeURIComponent(row.id)}`)) },
    ],
}, page);

/** @type {ListView} */
const connections = new ListView({
    name: 'connections', member: 'connections', every: 2_000,
    path: () => `connections?limit=1000${at('connections-kind').value ? `&kind=${at('connections-kind').value}` : ''}`,
    text: (row) => `${row.route} ${row.user_id ?? ''} ${row.session ?? ''} ${row.client ?? ''} ${row.client_id ?? ''} ${row.tenant_id ?? ''}`,
    columns: [
        { name: 'Kind', cell: (/** @type {any} */ row) => badge(row.kind) },
        { name: 'Route', cell: (/** @type {any} */ row) => clipped(row.route) },
        { name: 'Session', cell: (/** @type {any} */ row) => make('code', '', row.session ?? '–') },
        { name: 'Owner', cell: who },
        { name: 'From', cell: (/** @type {any} */ row) => clipped(row.client) },
        { name: 'Age', className: 'num', cell: (/** @type {any} */ row) => span(row.since) },
        { name: 'Ends in', className: 'num', cell: (/** @type {any} */ row) => row.ends_at ? span(row.ends_at) : 'open' },
        { name: 'End', className: 'act', cell: (/** @type {any} */ row) => connections.endCell(row, 'connection', () => connections.end(
            row, 'connection', `${row.kind} on ${row.route} of ${row.user_id ?? 'no user'}. The session stays; the client may come back.`,
            `connections/${encodeURIComponent(row.id)}`)) },
    ],
}, page);

/** Method and path; undefined where the head could not be read. @param {any} row @returns {string|undefined} */
function requestLine(row) { return [row.method, row.path].filter(Boolean).join(' ') || undefined; }

/** @type {ListView} */
const refusals = new ListView({
    name: 'refusals', member: 'refusals', every: 5_000,
    path: () => 'refusals?limit=1000',
    text: (row) => `${row.code} ${row.reason ?? ''} ${row.method ?? ''} ${row.path ?? ''} ${row.user ?? ''} ${row.request_id} ${row.client ?? ''} ${row.route ?? ''}`,
    columns: [
        { name: 'Ago', className: 'num', cell: (/** @type {any} */ row) => span(row.time) },
        { name: 'Status', className: 'num', cell: (/** @type {any} */ row) => String(row.status) },
        { name: 'Code', cell: (/** @type {any} */ row) => clipped(row.code) },
        { name: 'Reason', cell: (/** @type {any} */ row) => clipped(row.reason) },
        { name: 'Request', cell: (/** @type {any} */ row) => clipped(requestLine(row)) },
        { name: 'From', cell: (/** @type {any} */ row) => clipped(row.client) },
        { name: 'Why', className: 'act', cell: (/** @type {any} */ row) => {
            const button = make('button', 'quiet', 'Why');
            button.setAttribute('aria-label', `Why was ${row.request_id} refused`);
            button.addEventListener('click', () => showWhy(row));
            return button;
        } },
    ],
}, page);

/** @type {ListView} */
const grants = new ListView({
    name: 'grants', member: 'grants',
    path: () => 'grants?limit=1000',
    text: (row) => `${row.user_id} ${row.client_name ?? ''} ${row.client_id} ${row.resource}`,
    columns: [
        { name: 'Person', cell: (/** @type {any} */ row) => clipped(row.user_id) },
        { name: 'Program', cell: (/** @type {any} */ row) => clipped(row.client_name || row.client_id) },
        { name: 'Resource', cell: (/** @type {any} */ row) => clipped(row.resource) },
        { name: 'Scopes', cell: (/** @type {any} */ row) => clipped((row.scopes ?? []).join(' ')) },
        { name: 'Used', className: 'num', cell: (/** @type {any} */ row) => span(row.last_used_at) },
        { name: 'End', className: 'act', cell: (/** @type {any} */ row) => grants.endCell(row, 'grant', () => grants.end(
            row, 'grant', `${row.client_name || row.client_id} may no longer use ${row.resource} for ${row.user_id}. Its streams end.`,
            `grants/${encodeURIComponent(row.id)}`)) },
    ],
}, page);

/** @param {any} row */
async function showWhy(row) {
    let found = row;
    try {
        found = await ask(`refusals/${encodeURIComponent(row.request_id)}`);
    } catch (error) {
        // It has left the ring in the meantime: what the list said is still true.
        if (!(error instanceof Trouble) || error.status !== 404) return tell(error, 'Asking why');
    }
    at('why-words').textContent = `${found.status} ${found.code}: ${MEANINGS[found.code] ?? 'It was refused.'}`;
    const place = found.configuration;
    const facts = [
        ['Check', found.check], ['Reason', found.reason], ['Configuration', place && [place.file, place.line, place.key].filter((part) => part !== undefined && part !== null).join(' : ')],
        ['Request', requestLine(found) ?? '–'], ['Route', found.route], ['From', found.client], ['User', found.user],
        ['Session', found.session], ['Time', found.time], ['Request id', found.request_id],
    ];
    at('why-facts').replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) =>
        [make('dt', '', String(name)), make('dd', '', make('code', '', String(text)))]));
    at('why').hidden = false;
    at('why').focus();
}

// MARK: Tables

/** @param {string} id @param {string[]} head @param {(Node|string)[][]} rows */
function showTable(id, head, rows) {
    const line = (/** @type {string} */ tag, /** @type {(Node|string)[]} */ cells) => make('tr', '', ...cells.map((cell) => {
        const element = make(tag, '', cell);
        if (tag === 'th') element.setAttribute('scope', 'col');
        return element;
    }));
    const body = rows.length > 0 ? rows.map((row) => line('td', row)) : [line('td', ['None.'])];
    at(id).replaceChildren(make('thead', '', line('th', head)), make('tbody', '', ...body));
}

async function showKeys() {
    const { keys } = await ask('keys');
    showTable('keys-table', ['Key id', 'Algorithm', 'State', 'Made', 'Retires'], keys.map((/** @type {any} */ key) => [
        make('code', '', key.kid), key.algorithm, badge(key.state, { active: 'good', next: 'warn', retiring: 'warn' }[/** @type {string} */ (key.state)] ?? ''),
        key.created_at ? `${span(key.created_at)} ago` : '–', key.retires_at ? `${key.state === 'retired' ? '' : 'in '}${span(key.retires_at)}${key.state === 'retired' ? ' ago' : ''}` : '–',
    ]));
}

async function showUpstreams() {
    const { upstreams } = await ask('upstreams');
    showTable('upstreams-table', ['Route', 'Upstream', 'State', 'In flight', 'Failures in a row'],
        upstreams.map((/** @type {any} */ one) => [
            make('code', '', one.route), make('code', '', one.upstream),
            badge(one.up ? 'up' : one.ejected_until ? `down, tried again in ${span(one.ejected_until)}` : 'down', one.up ? 'good' : 'bad'),
            String(one.requests_in_flight ?? 0), String(one.consecutive_failures ?? 0),
        ]));
}

/** @type {any[]} */
let values = [];

async function showConfiguration() {
    const answer = await ask('config');
    values = answer.values;
    at('configuration-files').textContent = (answer.files ?? []).join(', ') || 'no file';
    filterConfiguration();
}

function filterConfiguration() {
    const wish = at('configuration-filter').value.trim().toLowerCase();
    const isSet = at('configuration-set').checked;
    const rows = values.filter((one) => (!isSet || one.from !== 'default')
        && `${one.key} ${JSON.stringify(one.value)}`.toLowerCase().includes(wish));
    showTable('configuration-table', ['Key', 'Value', 'From'], rows.map((one) => [
        make('code', '', one.key), make('code', '', typeof one.value === 'string' ? one.value : JSON.stringify(one.value) ?? ''),
        one.line ? `${one.from}, line ${one.line}` : one.from,
    ]));
}
at('configuration-filter').addEventListener('input', filterConfiguration);
at('configuration-set').addEventListener('change', filterConfiguration);
at('configuration-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => event.preventDefault());

// MARK: Views

/** What each part of the console does when it comes into sight, and when it leaves. @type {Record<string, {show: () => unknown, hide?: () => void}>} */
const VIEWS = {
    overview: { show: () => startOverview({ tell, calm }), hide: stopOverview },
    sessions: { show: () => sessions.load(), hide: () => sessions.stop() },
    connections: { show: () => connections.load(), hide: () => connections.stop() },
    refusals: { show: () => refusals.load(), hide: () => refusals.stop() },
    grants: { show: () => grants.load(), hide: () => grants.stop() },
    keys: { show: showKeys },
    upstreams: { show: showUpstreams },
    configuration: { show: showConfiguration },
};
/** @type {string|null} */
let current = null;

async function go() {
    const wish = location.hash.slice(1);
    const name = Object.hasOwn(VIEWS, wish) ? wish : 'overview';
    if (current) VIEWS[current].hide?.();
    current = name;
    for (const link of document.querySelectorAll('nav a')) {
        if (link.getAttribute('href') !== `#${name}`) { link.removeAttribute('aria-current'); continue; }
        link.setAttribute('aria-current', 'page');
        link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
    for (const key of Object.keys(VIEWS)) at(`view-${key}`).hidden = key !== name;
    document.title = `${name[0].toUpperCase()}${name.slice(1)} · Gatehouse console`;
    calm();
    try { await VIEWS[name].show(); } catch (error) { tell(error, 'Loading'); }
}

// MARK: Coming in

/** Asks for a token. @param {Trouble} [trouble] why the last one was not taken */
function enter(trouble) {
    if (current) VIEWS[current].hide?.();
    current = null;
    const told = trouble && hasToken() ? `${trouble.code}: ${MEANINGS[trouble.code] ?? trouble.message}` : '';
    useToken(null);
    at('entry-error').textContent = told;
    at('entry').hidden = false;
    at('inside').hidden = at('forget').hidden = true;
    at('ready').textContent = 'not signed in';
    at('ready').dataset.tone = '';
    at('node').textContent = '';
    at('token').focus();
}

async function open() {
    try {
        await ask('overview');
    } catch (error) {
        return tell(error, 'Asking the gateway');
    }
    at('entry').hidden = true;
    at('inside').hidden = false;
    at('forget').hidden = !hasToken();
    at('token').value = '';
    await go();
}

at('entry-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    useToken(at('token').value.trim());
    open();
});
at('forget').addEventListener('click', () => enter());
at('skip').addEventListener('click', (/** @type {MouseEvent} */ event) => {
    event.preventDefault();
    at('main').focus();
});

/** A token that comes with the address is used, and taken out of it. */
function readAddress() {
    const given = tokenOfAddress();
    if (given) useToken(given);
    return given !== null;
}
addEventListener('hashchange', () => {
    if (readAddress()) open();
    else if (!at('inside').hidden) go();
});
readAddress();
await open();
