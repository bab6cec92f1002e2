// @ts-check
/** Asks the admin API. The token lives in this module's memory and nowhere else. */

/** @type {string|null} */
let token = null;

/** @param {string|null} value */
export function useToken(value) { token = value; }
/** Whether a token is at hand. (None is needed where the listener is a Unix socket of the same user.) */
export function hasToken() { return token !== null; }

/** Takes the token of the address, which is never sent, and takes it out of the address. */
export function tokenOfAddress() {
    const found = /^#token=([A-Za-z0-9._~+/=-]{1,16384})$/.exec(location.hash);
    if (location.hash.startsWith('#token=')) history.replaceState(null, '', location.pathname);
    return found ? found[1] : null;
}

/** An answer that was a refusal, or none. */
export class Trouble extends Error {
    /** @param {number} status 0: there was no answer @param {string} code @param {string} words */
    constructor(status, code, words) {
        super(words);
        this.status = status;
        this.code = code;
    }
}

/** @param {string} path @param {RequestInit} [init] @returns {Promise<Response>} a good answer */
async function send(path, init = {}) {
    const headers = new Headers(init.headers);
    if (token) headers.set('Authorization', `Bearer ${token}`);
    const answer = await fetch(path, { cache: 'no-store', credentials: 'omit', redirect: 'error', ...init, headers })
        .catch(() => { throw new Trouble(0, 'unreachable', 'The gateway does not answer.'); });
    if (answer.ok) return answer;
    const text = await answer.text().catch(() => '');
    let problem;
    try { problem = JSON.parse(text); } catch { /* its status says enough */ }
    throw new Trouble(answer.status, String(problem?.code ?? `status_${answer.status}`),
        String(problem?.detail ?? problem?.title ?? (text.length < 500 && text.trim() ? text.trim() : `Status ${answer.status}.`)));
}

/** @param {string} path @param {RequestInit & {json?: unknown}} [options] @returns {Promise<any>} null without a body */
export async function ask(path, { json, ...init } = {}) {
    if (json !== undefined) {
        init.body = JSON.stringify(json);
        init.headers = { 'Content-Type': 'application/json' };
    }
    const text = await (await send(`/api/admin/${path}`, init)).text();
    if (text === '') return null;
    try {
        return JSON.parse(text);
    } catch {
        throw new Trouble(200, 'unexpected_answer', 'The answer was not JSON.');
    }
}

/** The text of `/metrics`. @returns {Promise<string>} */
export async function metrics() { return (await send('/metrics')).text(); }

/** More rows than this are not listed: search at the gateway instead. */
export const MOST_ROWS = 200_000;

/**
 * Reads a whole list: as a stream of lines where the gateway has it, else page by page.
 * @param {string} path @param {string} member of a page @param {(rows: any[], isAll: boolean) => void} take gets rows as
 *   they come @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export async function readList(path, member, take, signal) {
    const first = await send(`/api/admin/${path}`, { signal, headers: { Accept: 'application/x-ndjson, application/json;q=0.5' } });
    if ((first.headers.get('Content-Type') ?? '').startsWith('application/x-ndjson')) return readLines(first, take);
    let page = await first.json();
    let count = 0;
    for (;;) {
        const rows = Array.isArray(page?.[member]) ? page[member] : [];
        count += rows.length;
        const next = typeof page?.next === 'string' && rows.length > 0 && count < MOST_ROWS ? page.next : null;
        take(rows, next === null);
        if (next === null) return;
        const mark = path.includes('?') ? '&' : '?';
        page = await (await send(`/api/admin/${path}${mark}after=${encodeURIComponent(next)}`, { signal })).json();
    }
}

/** @param {Response} answer @param {(rows: any[], isAll: boolean) => void} take */
async function readLines(answer, take) {
    if (!answer.body) return take([], true);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    let count = 0;
    for (;;) {
        const { done, value } = await reader.read();
        const lines = (rest + (value ?? '')).split('\n');
        rest = done ? '' : /** @type {string} */ (lines.pop());
        const rows = [];
        for (const line of lines) {
            if (line === '') continue;
            try { rows.push(JSON.parse(line)); } catch { throw new Trouble(200, 'unexpected_answer', 'A line of the list was not JSON.'); }
        }
        count += rows.length;
        const isAll = done || count >= MOST_ROWS;
        if (rows.length > 0 || isAll) take(rows, isAll);
        if (!isAll) continue;
        if (!done) await reader.cancel();
        return;
    }
}
