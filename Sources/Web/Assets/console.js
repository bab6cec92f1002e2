// @ts-check
/** The page at `/`: everything it does goes through the client library that adopters use. */

import { make, show as showExchange, watch } from '/exchanges.js';
import { Gatehouse, Refusal, readAnswer } from '/gatehouse.js';
import { errand, offerSignIn, say } from '/.gatehouse/sign-in.js';
import { MEANINGS, closing } from '/.gatehouse/words.js';

watch(showExchange);
const gate = new Gatehouse();
/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

// MARK: Showing

/** @param {string} id @param {string} text @param {'good'|'warn'|'bad'|''} [tone] */
function show(id, text, tone = '') {
    const element = at(id);
    if (element.textContent !== text) element.textContent = text;
    element.dataset.tone = tone;
}

/** @param {unknown} error @param {string} doing */
function showRefusal(error, doing) {
    const refusal = error instanceof Refusal ? error : new Refusal({ code: 'unexpected', detail: String(error) }, 0);
    if (refusal.code === 'closed_here') return refusal;
    const line = make('p', 'line', make('strong', '', doing), make('code', 'code', refusal.code));
    if (refusal.status) line.insertBefore(make('span', 'aside', String(refusal.status)), line.lastChild);
    const item = make('li', '', line);
    const said = [refusal.title, refusal.detail].filter((part, i, all) => part && all.indexOf(part) === i).join(': ');
    if (MEANINGS[refusal.code]) item.append(make('p', 'meaning', MEANINGS[refusal.code]));
    if (said) item.append(make('p', 'aside', refusal.status ? `The gateway said: ${said}` : said));
    const trace = [
        refusal.reason && `reason ${refusal.reason}`,
        refusal.retryAfter !== null && `again in ${refusal.retryAfter} s`,
        refusal.requestID && `request ${refusal.requestID}`,
    ].filter(Boolean).join(' · ');
    if (trace) item.append(make('p', 'trace', trace));
    item.dataset.code = refusal.code;
    prepend('refusals', item, 30);
    at('no-refusals').hidden = true;
    at('clear-refusals').hidden = false;
    return refusal;
}

/** @param {string} id @param {Node} item @param {number} most */
function prepend(id, item, most) {
    const list = at(id);
    list.prepend(item);
    while (list.children.length > most) list.lastElementChild.remove();
}

/** @param {string} kind @param {string} mark @param {string} text @param {number} [seq] */
function logLine(kind, mark, text, seq) {
    const item = make('li', kind, make('span', 'mark', mark), make('span', 'body', text));
    if (seq !== undefined) item.dataset.seq = String(seq);
    const list = at('events');
    const following = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    list.append(item);
    while (list.children.length > 300) list.firstElementChild.remove();
    if (following) list.scrollTop = list.scrollHeight;
}

/** @param {number} until milliseconds since 1970 */
function remaining(until) {
    const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
    if (seconds < 120) return `${seconds} s`;
    return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

let tokenUntil = 0;
let renewals = 0;

function showToken() {
    const word = renewals > 0 ? `, renewed ${renewals === 1 ? 'once' : `${renewals} times`}` : '';
    show('token-state', tokenUntil ? `in memory, ${remaining(tokenUntil)} left${word}` : 'none');
    at('refresh').disabled = !tokenUntil;
}

function showSession() {
    const session = gate.session;
    at('step-session').classList.toggle('done', session !== null);
    at('step-login').classList.toggle('done', session?.state === 'authenticated');
    at('logout').disabled = session === null;
    if (!session) {
        show('session-state', 'ended', 'bad');
        return;
    }
    show('session-state', session.state, session.state === 'authenticated' ? 'good' : 'warn');
    if (at('session-id').textContent !== session.session_id) at('session-id').classList.remove('kept');
    show('session-id', session.session_id);
    show('session-owner', session.user_id ?? 'none');
    show('session-tenant', session.tenant_id ?? 'none');
    at('session-expires').dateTime = session.expires_at;
    show('session-expires', new Date(session.expires_at).toLocaleString());
    at('logout').textContent = session.state === 'authenticated' ? 'Log out' : 'End session';
}

gate.on('session', showSession);
gate.on('token', (token) => {
    renewals = token && tokenUntil ? renewals + 1 : 0;
    tokenUntil = token?.expiresAt ?? 0;
    showToken();
});
gate.on('refusal', (refusal) => showRefusal(refusal, 'In the background'));
setInterval(showToken, 1000);

// MARK: Session and login

async function begin() {
    try {
        const { state } = await gate.start();
        if (state !== 'authenticated') show('session-note', 'This is your session, and no user is logged in to it.');
        else if (gate.authorized) show('session-note', 'Picked up where this browser left off: the login survived.');
        else show('session-note', 'The session has an owner, but there is no access token. Log in again to go on.');
    } catch (error) {
        showRefusal(error, 'Starting a session');
        show('session-state', 'no session', 'bad');
    }
}

/** @param {{how: string, session: any}} answer @param {string|undefined} before */
function signedIn({ how, session }, before) {
    const same = session.session_id === before;
    at('session-id').classList.toggle('kept', same);
    say(same
        ? `${how}: the same session id, now with an owner and a new secret.`
        : `${how}: a new session was made for this login.`, 'good');
    show('session-note', '');
    if (errand.target) location.assign(errand.target);
}

at('logout').addEventListener('click', async () => {
    const ended = gate.session?.session_id;
    try {
        await gate.logout();
        show('login-result', '');
        await begin();
        const name = `${String(ended).slice(0, 12)}…`;
        show('session-note', `Session ${name} has ended, with all that belonged to it. This is a new one.`);
    } catch (error) {
        showRefusal(error, 'Logout');
    }
});

at('refresh').addEventListener('click', () => gate.refresh().catch((error) => showRefusal(error, 'Refresh')));

// MARK: Socket

gate.on('socket', (status) => {
    const open = status.state === 'open';
    show('socket-state', status.state, open ? 'good' : status.code && status.code !== 1000 ? 'bad' : '');
    at('step-socket').classList.toggle('done', open);
    at('connect').disabled = status.state !== 'idle' && status.state !== 'closed';
    at('disconnect').disabled = !at('connect').disabled;
    const why = status.code === undefined ? null : closing(status.code, status.reason ?? '');
    if (why) logLine('closed', 'close', why);
    const again = status.state === 'waiting' ? ` Trying again in ${((status.retryIn ?? 0) / 1000).toFixed(1)} s.` : '';
    if (open) show('socket-note', 'Open. It is extended with every refresh and closes when the session ends.');
    else if (why) show('socket-note', `Closed ${why}.${again}`);
    else if (again) show('socket-note', again.trim());
});

gate.on('sent', ({ intent, params, again }) =>
    logLine('out', '→', `${intent} ${JSON.stringify(params)}${again ? ' (again, same id)' : ''}`));

gate.on('event', (frame) => {
    if (frame.type === 'ready') {
        const lost = frame.lost ? `, events before ${frame.first_seq} are no longer kept` : '';
        const { state, user_id: user } = frame.session;
        logLine('ready', 'ready', `${state}, ${user}, last seq ${frame.last_seq}${lost}`);
    } else if (frame.type === 'event') {
        const fault = frame.event === 'error';
        const text = JSON.stringify(fault ? frame.error : frame.data);
        logLine(fault ? 'fault' : 'in', `#${frame.seq}`, `${frame.event} ${text}`, frame.seq);
    } else {
        logLine('fault', 'error', JSON.stringify(frame.error ?? frame));
    }
});

at('connect').addEventListener('click', () =>
    gate.connect({ resumeFrom: 0 }).catch((error) => showRefusal(error, 'Connecting')));
at('disconnect').addEventListener('click', () => gate.disconnect());

/** `name {…}`, a whole `{"intent": …}`, bare parameters for echo, or words to be echoed. @param {string} text */
function readIntent(text) {
    const [, word, rest] = /^\s*([\w.-]*)\s*([^]*?)\s*$/.exec(text) ?? ['', '', ''];
    if (word && (rest.startsWith('{') || (!rest && (word === 'echo' || word.includes('.'))))) {
        return { intent: word, params: rest ? JSON.parse(rest) : {} };
    }
    if (!word && rest.startsWith('{')) {
        const value = JSON.parse(rest);
        return typeof value.intent === 'string'
            ? { intent: value.intent, params: value.params ?? {}, id: value.id }
            : { intent: 'echo', params: value };
    }
    return { intent: 'echo', params: { text: text.trim() } };
}

at('intent-form').addEventListener('submit', async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    show('intent-error', '');
    let asked;
    try {
        asked = readIntent(at('intent-input').value);
    } catch (error) {
        show('intent-error', `Not valid JSON: ${/** @type {Error} */ (error).message}`);
        return;
    }
    await gate.intent(asked.intent, asked.params, typeof asked.id === 'string' ? { id: asked.id } : {})
        .catch((refusal) => refusal.code === 'not_connected' && show('intent-error', 'Connect the socket first.'));
});

at('intent-input').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    at('intent-form').requestSubmit();
});

for (const chip of document.querySelectorAll('[data-intent]')) {
    chip.addEventListener('click', () => {
        at('intent-input').value = /** @type {HTMLElement} */ (chip).dataset.intent;
        at('intent-input').focus();
    });
}

// MARK: Try to break it

/** @param {string} kind @returns {Promise<{token?: string, session?: string, twice?: boolean}>} */
async function wrongCredentials(kind) {
    const session = gate.session?.session_id ?? '';
    const token = gate.accessToken ?? '';
    switch (kind) {
    case 'token-only': return { token };
    case 'foreign': return { token, session: await someoneElsesSession() };
    case 'unknown': return { token, session: `ses_${randomText(22)}` };
    case 'swapped': return { token: session, session: token || session };
    case 'altered': return { token: altered(token), session };
    case 'twice': return { token, session, twice: true };
    default: return {};
    }
}

/** A session made without this browser's cookies: it belongs to the holder of its secret, which is kept nowhere. */
async function someoneElsesSession() {
    const answer = await fetch('/api/session/create-anonymous', { method: 'POST', credentials: 'omit' });
    return (await readAnswer(answer)).session_id;
}

/** @param {number} length */
function randomText(length) {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // The last character carries unused bits, so it is an A.
    const random = crypto.getRandomValues(new Uint8Array(length - 1));
    return `${Array.from(random, (byte) => alphabet[byte & 63]).join('')}A`;
}

/** Another letter at the start of the signature. @param {string} token */
function altered(token) {
    const start = token.lastIndexOf('.') + 1;
    return token.slice(0, start) + (token[start] === 'A' ? 'B' : 'A') + token.slice(start + 1);
}

/** What a script sees of a refused upgrade. Sub-protocols carry the credentials: URLs end up in too many places. */
function trySocket({ token, session, twice }) {
    const url = new URL('/api/runtime/agent', location.origin);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    if (twice) url.searchParams.set('access_token', 'again');
    const offers = ['gatehouse.v1', token && `bearer.${token}`, session && `session.${session}`].filter(Boolean);
    return new Promise((resolve) => {
        const socket = new WebSocket(url, offers);
        socket.onmessage = () => { resolve('was let in'); socket.close(); };
        socket.onclose = ({ code, reason }) => resolve(`closed ${closing(code, reason)}`);
    });
}

/** The same credentials where the answer can be read. */
function tryIntent({ token, session, twice }) {
    const headers = new Headers({ 'Content-Type': 'application/json' });
    if (token) headers.set('Authorization', `Bearer ${token}`);
    if (session) headers.set('Session-Id', session);
    const body = JSON.stringify({ type: 'intent', id: randomText(22), intent: 'echo', params: {} });
    const path = twice ? '/api/intent?access_token=again' : '/api/intent';
    return fetch(path, { method: 'POST', credentials: 'omit', headers, body }).then(readAnswer);
}

at('attempts').addEventListener('click', async (/** @type {MouseEvent} */ event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest('button');
    const kind = button?.dataset.attempt;
    if (!button || !kind) return;
    if (!gate.accessToken && !['none', 'swapped'].includes(kind)) {
        show('attempt-note', 'Log in first: this attempt takes a good token to the wrong place.');
        return;
    }
    show('attempt-note', 'Trying…');
    try {
        const credentials = await wrongCredentials(kind);
        show('attempt-note', `The socket ${await trySocket(credentials)}.`);
        await tryIntent(credentials);
        show('attempt-note', 'The intent was accepted, which it should not have been.', 'bad');
    } catch (error) {
        showRefusal(error, button.textContent ?? kind);
    }
});

at('clear-refusals').addEventListener('click', () => {
    at('refusals').replaceChildren();
    at('clear-refusals').hidden = true;
    at('no-refusals').hidden = false;
});

const started = begin();
await offerSignIn(gate, { started, signedIn, refused: showRefusal });
await started;
