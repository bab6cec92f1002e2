// @ts-check
/**
 * Gatehouse in the browser: a session first, a login when it is wanted, a socket that stays authorised.
 *
 *     import { Gatehouse } from '/gatehouse.js';
 *     const gate = new Gatehouse();
 *     await gate.start();                              // an anonymous session, or the one this browser has
 *     await gate.login({ email, password });           // the same session id, now with an owner
 *     await gate.connect();                            // a socket that outlives the access token
 *     const data = await gate.intent('echo', { hello: 'world' });
 *
 * Nothing secret is stored: the session secret and the refresh token are HttpOnly cookies that scripts cannot read,
 * and the access token lives in memory only. Tabs of one origin share a login and never race for a refresh.
 * One file without dependencies, long as it is, so that it can be copied into any page.
 */

/**
 * @typedef {object} Session
 * @property {string} session_id      An address, not a credential.
 * @property {'anonymous'|'authenticated'|'ended'|'expired'} state
 * @property {string|null} tenant_id
 * @property {string|null} user_id
 * @property {string} created_at
 * @property {string} expires_at
 * @property {string} last_seen_at
 * @property {Record<string, unknown>} metadata
 */
/**
 * @typedef {object} SocketStatus
 * @property {'idle'|'connecting'|'open'|'waiting'|'closed'} state
 * @property {number} [code]      Close code of the socket that was lost.
 * @property {string} [reason]    Its close reason, such as `token_expired`.
 * @property {number} [retryIn]   Milliseconds until the next attempt, in state `waiting`.
 * @property {number} [attempt]   How many attempts have failed in a row.
 */
/**
 * @typedef {object} Events
 * @property {Session|null} session               The session changed, here or in another tab; null: it is over.
 * @property {{expiresAt: number}|null} token     An access token arrived (milliseconds since 1970), or is gone.
 * @property {SocketStatus} socket
 * @property {Record<string, any>} event          A frame of the session's stream: `ready`, `event` or `error`.
 * @property {{id: string, intent: string, params: unknown, again: boolean}} sent   An intent went out.
 * @property {Refusal} refusal                    Something was refused in the background (refresh, reconnect).
 */

/** An answer that was a refusal (problem+json), or no answer at all (`code` is then `unreachable`). */
export class Refusal extends Error {
    /** @param {Record<string, any>} problem @param {number} status @param {number|null} [retryAfter] in seconds */
    constructor(problem, status, retryAfter = null) {
        super(problem.detail || problem.title || problem.code || `status ${status}`);
        this.name = 'Refusal';
        this.status = status;
        /** One of the closed list of codes. */
        this.code = String(problem.code || problem.error || 'unexpected_answer');
        this.title = String(problem.title || '');
        this.detail = String(problem.detail || problem.error_description || '');
        /** Which check failed. Only told where the operator allows it (`errors.explain`). */
        this.reason = problem.reason ? String(problem.reason) : null;
        this.requestID = problem.request_id ? String(problem.request_id) : null;
        this.retryAfter = retryAfter;
    }

    /** Whether asking again later can help. */
    get isPassing() {
        return this.status === 0 || this.status === 429 || this.status >= 500;
    }
}

/**
 * What to do when a socket closes: `stop`, `retry` after a while, or `renew` the token first.
 * @param {number} code @param {string} reason @returns {'stop'|'retry'|'renew'}
 */
export function afterClose(code, reason) {
    if (code === 4401) return reason === 'token_expired' || reason === 'invalid_token' ? 'renew' : 'stop';
    if (code === 4409) return 'retry';
    if (code >= 4500 || code === 4429) return 'retry';
    return [1001, 1005, 1006, 1009, 1011, 1012, 1013].includes(code) ? 'retry' : 'stop';
}

/**
 * Exponential back-off with jitter, in milliseconds, never above 30 s.
 * @param {number} attempt @param {number} [least] @param {() => number} [random]
 */
export function backOff(attempt, least = 0, random = Math.random) {
    const ceiling = Math.min(30_000, 500 * 2 ** Math.min(attempt, 10));
    return Math.max(least, Math.round(ceiling * (0.5 + random() / 2)));
}

/**
 * Where a login page was sent its visitor from: the one `return_to` of its query, as an absolute URL of this origin.
 * Null for everything else, and for what is a path only until it is read a second time (`/.//host`).
 * @param {string} search @param {string} [origin] @returns {string|null}
 */
export function returnTarget(search, origin = location.origin) {
    const [wish, another] = new URLSearchParams(search).getAll('return_to');
    // One slash, no second one behind it in either direction, and nothing that URL parsers drop or turn into a slash.
    if (another !== undefined || !/^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/.test(wish ?? '')) return null;
    if (!URL.canParse(wish, origin)) return null;
    const url = new URL(wish, origin);
    return url.origin === origin && !url.pathname.startsWith('//') ? url.href : null;
}

/** A browser's session with the gateway. One object a page is enough. */
export class Gatehouse {
    #base;
    /** @type {string|null} */ #token = null;
    #expiresAt = 0;
    /** @type {Session|null} */ #session = null;
    /** @type {Promise<void>|null} */ #refreshing = null;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;
    /** @type {Map<string, Set<(value: any) => void>>} */ #listeners = new Map();
    #socket;
    #channel;

    /** @param {{base?: string}} [options] `base`: origin of the gateway, by default that of the page. */
    constructor({ base = location.origin } = {}) {
        this.#base = new URL(base);
        this.#channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('gatehouse') : null;
        this.#channel?.addEventListener('message', ({ data }) => this.#heard(data));
        this.#socket = new AgentSocket({
            base: this.#base,
            mint: async () => (await this.#call('POST', `${this.#path()}/ticket`, { bearer: true })).ticket,
            renew: () => this.refresh(),
            tell: (name, value) => this.#tell(name, value),
        });
        globalThis.document?.addEventListener('visibilitychange', () => {
            if (document.visibilityState === 'visible' && this.#token && Date.now() > this.#expiresAt - 5_000) {
                this.#refreshQuietly(0);
            }
        });
    }

    /** @returns {Session|null} The session as last heard of. */
    get session() { return this.#session; }
    /** Whether an access token is at hand. */
    get authorized() { return this.#token !== null; }
    /** The access token, for requests that {@link fetch} cannot make. Keep it in memory, and read it anew each time. */
    get accessToken() { return this.#token; }
    /** @returns {SocketStatus} */
    get socket() { return this.#socket.status; }

    /**
     * Calls `listener` whenever `name` happens.
     * @template {keyof Events} Name
     * @param {Name} name @param {(value: Events[Name]) => void} listener
     * @returns {() => void} stops it
     */
    on(name, listener) {
        const set = this.#listeners.get(name) ?? new Set();
        this.#listeners.set(name, set.add(listener));
        return () => void set.delete(listener);
    }

    /**
     * Makes an anonymous session, or picks up the one this browser already has; a login survives a reload.
     * @param {{fresh?: boolean, metadata?: Record<string, unknown>}} [options] `fresh`: a new one in any case.
     * @returns {Promise<Session>}
     */
    async start(options = {}) {
        const session = await locked('gatehouse-start', () =>
            this.#call('POST', '/api/session/create-anonymous', { body: options }));
        this.#adopt(session);
        if (session.session_secret) {
            const detail = 'Browsers keep sessions over https and on localhost only; here a login will not last.';
            this.#tell('refusal', new Refusal({ code: 'no_cookies', detail }, 0));
        }
        if (session.state === 'authenticated' && !this.#token && !(await this.#askOtherTabs())) {
            await this.refresh().catch((refusal) => this.#tell('refusal', refusal));
        }
        this.#broadcast({ kind: 'session', session: this.#session });
        return this.#session ?? session;
    }

    /**
     * Signs in. The anonymous session keeps its id and gets an owner and a new secret.
     * @param {{email: string, password: string, tenant?: string}} credentials
     * @returns {Promise<{how: 'upgraded'|'created'|'resumed', session: Session}>}
     */
    async login({ email, password, tenant }) {
        const asked = Date.now();
        const body = { email, password, ...(tenant ? { tenant_id: tenant } : {}) };
        const answer = await this.#call('POST', '/api/auth/login', { body });
        const session = await this.#call('GET', '/api/session/current');
        this.#adopt(session);
        this.#broadcast({ kind: 'session', session });
        this.#accept(answer, asked);
        return { how: answer.session, session };
    }

    /** Ends the session, its login and every token of it. Sockets close with 4403. */
    async logout() {
        const sessionID = this.#session?.session_id ?? null;
        await this.#call('POST', '/api/auth/logout', { bearer: this.#token !== null });
        await this.#socket.closedByGateway(1_000);
        this.#forget();
        this.#broadcast({ kind: 'ended', sessionID });
    }

    /** Gets a new access token. Open sockets of this login are extended, not closed. Runs by itself before expiry. */
    refresh() {
        const known = this.#expiresAt;
        this.#refreshing ??= locked('gatehouse-refresh', async () => {
            if (this.#token && this.#expiresAt > known) return; // another tab was faster
            const asked = Date.now();
            this.#accept(await this.#call('POST', '/api/auth/refresh'), asked);
        }).finally(() => { this.#refreshing = null; });
        return this.#refreshing;
    }

    /** @returns {Promise<Session>} The session of this browser's secret, asked afresh. */
    async current() {
        const session = await this.#call('GET', '/api/session/current');
        this.#adopt(session);
        return session;
    }

    /**
     * Opens the session's socket and keeps it open: reconnects with back-off and resumes where the stream broke off.
     * @param {{resumeFrom?: number}} [options] replay what came after this sequence number; 0 is everything kept.
     * @returns {Promise<void>} once the socket is ready; rejects with a {@link Refusal} when it will not be
     */
    connect(options = {}) { return this.#socket.open(options.resumeFrom); }

    /** Closes the socket for good. */
    disconnect() { this.#socket.close(); }

    /**
     * Runs an intent over the socket. Sent again under its id after a reconnect, which never runs it twice.
     * @param {string} intent @param {unknown} [params] @param {{id?: string}} [options]
     * @returns {Promise<any>} the result's data; rejects with a {@link Refusal} carrying the realm's code
     */
    intent(intent, params = {}, { id = newID() } = {}) { return this.#socket.send(id, intent, params); }

    /**
     * `fetch` with the access token, refreshed when it has expired. Same origin as the gateway only.
     * @param {string} path @param {RequestInit} [init] @returns {Promise<Response>}
     */
    async fetch(path, init = {}) {
        const url = new URL(path, this.#base);
        if (url.origin !== this.#base.origin) throw new TypeError('the access token never leaves the gateway’s origin');
        const attempt = () => {
            const headers = new Headers(init.headers);
            if (this.#token) headers.set('Authorization', `Bearer ${this.#token}`);
            return fetch(url, { credentials: 'include', ...init, headers });
        };
        const used = this.#token;
        const answer = await attempt();
        if (answer.status !== 401 || used === null) return answer;
        if (this.#token === used) await this.refresh().catch(() => {});
        return this.#token && this.#token !== used ? attempt() : answer;
    }

    /** @param {string} method @param {string} path @param {{body?: unknown, bearer?: boolean}} [options] */
    async #call(method, path, { body, bearer = false } = {}) {
        /** @type {RequestInit} */
        const init = { method, credentials: 'include', cache: 'no-store' };
        if (body !== undefined) {
            init.body = JSON.stringify(body);
            init.headers = { 'Content-Type': 'application/json' };
        }
        const answer = await (bearer ? this.fetch(path, init) : fetch(new URL(path, this.#base), init))
            .catch((error) => { throw new Refusal({ code: 'unreachable', detail: error.message }, 0); });
        return readAnswer(answer);
    }

    #path() { return `/api/session/${encodeURIComponent(this.#session?.session_id ?? '')}`; }

    /** @param {Session & {session_secret?: string}} answer */
    #adopt({ session_secret: _, ...session }) {
        if (session.session_id !== this.#session?.session_id) {
            this.#dropToken();
            this.#socket.forget();
        }
        this.#session = session;
        this.#tell('session', session);
    }

    /** @param {{access_token: string, expires_in: number}} answer @param {number} asked */
    #accept(answer, asked) {
        this.#hold(answer.access_token, asked + answer.expires_in * 1000);
        this.#broadcast(this.#tokenMessage());
    }

    /** @param {string} token @param {number} expiresAt */
    #hold(token, expiresAt) {
        this.#token = token;
        this.#expiresAt = expiresAt;
        // Three quarters of its life, a little earlier or later in each tab.
        this.#refreshQuietly(Math.max(250, (expiresAt - Date.now()) * (0.72 + Math.random() * 0.06)));
        this.#tell('token', { expiresAt });
    }

    #dropToken() {
        clearTimeout(this.#timer);
        if (this.#token === null) return;
        this.#token = null;
        this.#expiresAt = 0;
        this.#tell('token', null);
    }

    #forget() {
        this.#dropToken();
        this.#session = null;
        this.#tell('session', null);
    }

    /** @param {number} delay @param {number} [attempt] */
    #refreshQuietly(delay, attempt = 0) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(async () => {
            try {
                await this.refresh();
            } catch (error) {
                const refusal = /** @type {Refusal} */ (error);
                this.#tell('refusal', refusal);
                if (refusal.isPassing) {
                    this.#refreshQuietly(backOff(attempt, (refusal.retryAfter ?? 0) * 1000), attempt + 1);
                } else {
                    this.#dropToken();
                    await this.current().catch((gone) => gone.isPassing || this.#forget());
                }
            }
        }, Math.min(delay, 2 ** 31 - 1));
    }

    // What tabs tell each other. The channel reaches pages of this origin only, as the cookies do.

    /** @param {any} message */
    #heard(message) {
        const mine = this.#session?.session_id;
        if (message.kind === 'want' && message.sessionID === mine && this.#token) this.#broadcast(this.#tokenMessage());
        if (message.kind === 'ended' && message.sessionID === mine) this.#forget();
        if (message.kind === 'session' && message.session && differs(message.session, this.#session)) {
            this.#adopt(message.session);
        }
        if (message.kind === 'token' && message.sessionID === mine && message.expiresAt > this.#expiresAt) {
            this.#hold(message.token, message.expiresAt);
        }
    }

    #tokenMessage() {
        return {
            kind: 'token', token: this.#token, expiresAt: this.#expiresAt, sessionID: this.#session?.session_id,
        };
    }

    /** Saves a rotation when another tab holds a token already. @returns {Promise<boolean>} */
    async #askOtherTabs() {
        this.#broadcast({ kind: 'want', sessionID: this.#session?.session_id });
        for (let waited = 0; this.#channel && waited < 120 && !this.#token; waited += 20) await sleep(20);
        return this.#token !== null;
    }

    /** @param {object} message */
    #broadcast(message) { this.#channel?.postMessage(message); }

    /** @param {string} name @param {any} value */
    #tell(name, value) {
        for (const listener of this.#listeners.get(name) ?? []) listener(value);
    }
}

/** One WebSocket after another that together look like a single one. */
class AgentSocket {
    /** @type {SocketStatus} */ status = { state: 'idle' };
    #base; #mint; #renew; #tell;
    /** @type {WebSocket|null} */ #ws = null;
    /** @type {number|null} */ #lastSeq = null;
    #catchUpTo = 0;
    #attempt = 0;
    #wanted = false;
    #ready = false;
    /** Raised with every dial; answers for an older one are ignored. */ #run = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;
    /** @type {{resolve: () => void, reject: (error: unknown) => void}[]} */ #waiting = [];
    /** @type {Map<string, {intent: string, params: unknown, sent: number, resolve: Function, reject: Function}>} */
    #pending = new Map();

    /**
     * @param {{base: URL, mint: () => Promise<string>, renew: () => Promise<void>,
     *          tell: (name: string, value: any) => void}} parts
     */
    constructor({ base, mint, renew, tell }) {
        this.#base = base;
        this.#mint = mint;
        this.#renew = renew;
        this.#tell = tell;
        globalThis.addEventListener?.('online', () => this.status.state === 'waiting' && this.#dial());
    }

    /** @param {number} [resumeFrom] @returns {Promise<void>} */
    open(resumeFrom) {
        if (this.#wanted && this.#ready) return Promise.resolve();
        /** @type {Promise<void>} */
        const opened = new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
        if (!this.#wanted) {
            this.#wanted = true;
            this.#attempt = 0;
            this.#lastSeq ??= resumeFrom ?? null;
            this.#dial();
        }
        return opened;
    }

    close() {
        const ws = this.#ws;
        this.#stop({ state: 'closed', code: 1000, reason: '' }, new Refusal({ code: 'closed_here' }, 0));
        ws?.close(1000);
    }

    /** Waits a moment for the close frame that the end of the session brings. @param {number} patience */
    async closedByGateway(patience) {
        for (let waited = 0; this.#ws && waited < patience; waited += 20) await sleep(20);
    }

    /** Another session: the stream starts anew. The gateway gets a moment to say why the old socket closes. */
    forget() {
        this.#lastSeq = null;
        if (!this.#wanted) return;
        this.#wanted = false;
        const run = this.#run;
        setTimeout(() => run === this.#run && this.close(), this.#ws ? 1_000 : 0);
    }

    /** @param {string} id @param {string} intent @param {unknown} params @returns {Promise<any>} */
    send(id, intent, params) {
        if (!this.#wanted) {
            return Promise.reject(new Refusal({ code: 'not_connected', detail: 'The socket is not open.' }, 0));
        }
        return new Promise((resolve, reject) => {
            this.#pending.set(id, { intent, params, sent: 0, resolve, reject });
            this.#flush();
        });
    }

    async #dial() {
        clearTimeout(this.#timer);
        const run = ++this.#run;
        this.#ws?.close(1000);
        this.#report({ state: 'connecting', attempt: this.#attempt });
        let ticket;
        try {
            ticket = await this.#mint();
        } catch (error) {
            if (run === this.#run) this.#refused(/** @type {Refusal} */ (error));
            return;
        }
        if (run !== this.#run) return;
        const url = new URL('/api/runtime/agent', this.#base);
        url.protocol = this.#base.protocol === 'https:' ? 'wss:' : 'ws:';
        url.searchParams.set('ticket', ticket);
        if (this.#lastSeq !== null) url.searchParams.set('resume_from', String(this.#lastSeq));
        const ws = this.#ws = new WebSocket(url);
        ws.onmessage = ({ data }) => run === this.#run && this.#frame(data);
        ws.onclose = ({ code, reason }) => run === this.#run && this.#lost(code, reason);
    }

    /** @param {string} text */
    #frame(text) {
        let frame;
        try { frame = JSON.parse(text); } catch { return; }
        if (frame?.type === 'ready') {
            this.#ready = true;
            this.#attempt = 0;
            if (frame.lost) this.#lastSeq = frame.first_seq - 1;
            if (this.#lastSeq === null || this.#lastSeq > frame.last_seq) this.#lastSeq = frame.last_seq;
            this.#catchUpTo = frame.last_seq;
            this.#report({ state: 'open' });
            for (const { resolve } of this.#waiting.splice(0)) resolve();
        } else if (frame?.type === 'event') {
            this.#settle(frame);
            if (this.#lastSeq !== null && frame.seq <= this.#lastSeq) return; // seen before the reconnect
            this.#lastSeq = frame.seq;
        } else if (frame?.type === 'error' && frame.id) {
            this.#settle(frame);
        }
        this.#tell('event', frame);
        this.#flush();
    }

    /** @param {Record<string, any>} frame */
    #settle(frame) {
        const pending = this.#pending.get(frame.id);
        if (!pending) return;
        this.#pending.delete(frame.id);
        if (frame.event === 'result') pending.resolve(frame.data);
        else pending.reject(new Refusal({ code: frame.error?.code, detail: frame.error?.message }, 0));
    }

    /** Sends what has not been sent on this socket, once the replay is through: an answer may be in it. */
    #flush() {
        if (!this.#ready || (this.#lastSeq ?? 0) < this.#catchUpTo) return;
        for (const [id, pending] of this.#pending) {
            if (pending.sent === this.#run) continue;
            const again = pending.sent !== 0;
            pending.sent = this.#run;
            this.#ws?.send(JSON.stringify({ type: 'intent', id, intent: pending.intent, params: pending.params }));
            this.#tell('sent', { id, intent: pending.intent, params: pending.params, again });
        }
    }

    /** @param {Refusal} refusal of a ticket */
    #refused(refusal) {
        // Whoever waits for `connect` is told by its rejection.
        if (refusal.isPassing || this.#waiting.length === 0) this.#tell('refusal', refusal);
        if (refusal.isPassing) this.#later({}, (refusal.retryAfter ?? 0) * 1000);
        else this.#stop({ state: 'closed' }, refusal);
    }

    /** @param {number} code @param {string} reason */
    async #lost(code, reason) {
        this.#ws = null;
        this.#ready = false;
        if (code === 1009) this.#dropUnanswered();
        const next = this.#wanted ? afterClose(code, reason) : 'stop';
        if (next === 'stop') {
            this.#stop({ state: 'closed', code, reason }, new Refusal({ code: reason || `close_${code}` }, 0));
        } else if (next === 'renew' && this.#attempt === 0) {
            this.#report({ state: 'waiting', code, reason, retryIn: 0 });
            const run = this.#run;
            this.#attempt += 1;
            try {
                await this.#renew();
                if (run === this.#run) this.#dial();
            } catch (error) {
                if (run === this.#run) this.#refused(/** @type {Refusal} */ (error));
            }
        } else {
            this.#later({ code, reason }, code === 1013 ? 2_000 : 0);
        }
    }

    /** What made the socket close for its size must not be sent again. */
    #dropUnanswered() {
        for (const [id, pending] of this.#pending) {
            if (pending.sent !== this.#run) continue;
            this.#pending.delete(id);
            pending.reject(new Refusal({ code: 'too_big', detail: 'The socket closed: a message was too big.' }, 0));
        }
    }

    /** @param {{code?: number, reason?: string}} why @param {number} least */
    #later(why, least) {
        const retryIn = backOff(this.#attempt, least);
        this.#attempt += 1;
        this.#report({ state: 'waiting', ...why, retryIn, attempt: this.#attempt });
        this.#timer = setTimeout(() => this.#dial(), retryIn);
    }

    /** @param {SocketStatus} status @param {Refusal} refusal */
    #stop(status, refusal) {
        clearTimeout(this.#timer);
        this.#run += 1;
        this.#wanted = this.#ready = false;
        this.#ws = null;
        for (const { reject } of this.#waiting.splice(0)) reject(refusal);
        for (const { reject } of this.#pending.values()) reject(refusal);
        this.#pending.clear();
        this.#report(status);
    }

    /** @param {SocketStatus} status */
    #report(status) {
        this.status = status;
        this.#tell('socket', status);
    }
}

/** The JSON of a good answer; throws a {@link Refusal} for every other. @param {Response} answer */
export async function readAnswer(answer) {
    const text = await answer.text();
    let value = null;
    try { value = text ? JSON.parse(text) : null; } catch { /* told below */ }
    if (answer.ok && (value !== null || text === '')) return value;
    const retryAfter = Number.parseInt(answer.headers.get('Retry-After') ?? '', 10);
    const problem = value && typeof value === 'object' ? value : { detail: 'The answer was not understood.' };
    throw new Refusal(problem, answer.status, Number.isNaN(retryAfter) ? null : retryAfter);
}

/** @param {Session} a @param {Session|null} b */
function differs(a, b) {
    return a.session_id !== b?.session_id || a.state !== b.state || a.user_id !== b.user_id;
}

/**
 * Runs one at a time across all tabs of the origin, where the browser can.
 * @param {string} name @param {() => any} job
 */
function locked(name, job) {
    return globalThis.navigator?.locks ? navigator.locks.request(name, job) : job();
}

/** 128 random bits. (`crypto.randomUUID` is missing on plain http.) */
function newID() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {number} duration */
function sleep(duration) { return new Promise((resolve) => setTimeout(resolve, duration)); }
