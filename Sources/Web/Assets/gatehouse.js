// @ts-check
/**
 * Gatehouse in the browser: a session first, a login when it is wanted, a socket that stays authorised.
 *
 *     import { Gatehouse } from '/gatehouse.js';
 *     const gate = new Gatehouse();
 *     await gate.start();                              // an anonymous session, or the one this browser has
 *     await gate.login({ email, password });           // the same session id, now with an owner
 *     await gate.loginWith('keycloak');                // or at an identity provider, by a redirect and back
 *     await gate.loginWithPasskey();                   // or with a passkey
 *     await gate.connect();                            // a socket that outlives the access token
 *     const data = await gate.intent('echo', { hello: 'world' });
 *
 * `Gatehouse` is all of it in one object. The same in parts, for programs that are built of parts: `PlatformState` (the
 * session), `Auth` (who), `RuntimeClient` (the socket), `ExperienceClient` (the HTTP API, typed).
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
 * @property {boolean} [offline]  In state `waiting`: the browser is offline; no attempt is made until it is online.
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

/**
 * @typedef {object} SignInOptions
 * @property {{name: string, display_name: string, login_url: string}[]} providers
 * @property {boolean} password      Whether e-mail and password are accepted.
 */
/**
 * @typedef {object} ProviderLogin
 * @property {string} [returnTo]     Where to come back to: a URL or path of the gateway's origin. By default this page.
 * @property {string} [prompt]       For the provider, as the members below: `login`, `consent`, `select_account`.
 * @property {string} [login_hint]   Whom it should offer, such as an e-mail address.
 * @property {string} [max_age]      How many seconds ago the person may have signed in there at most.
 * @property {string} [acr_values]   Which authentication context is asked for.
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

    /**
     * Whether asking again later can help. An answer of success that makes no sense counts: it is not the gateway's, but
     * that of something in between (a captive portal, a service worker), which will not be there for ever.
     */
    get isPassing() {
        if (DECIDED_HERE.includes(this.code)) return false;
        return this.status < 300 || this.status === 429 || this.status >= 500;
    }
}

/** Codes of this client that no later attempt changes. */
const DECIDED_HERE = ['credentials_missing', 'not_connected', 'closed_here', 'too_big', 'not_found', 'passkey_declined',
    'passkey_exists', 'passkeys_unsupported'];

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

/** Whether passkeys can be used here: in browsers that have them, over https and on localhost. */
export function canUsePasskeys() {
    return typeof globalThis.PublicKeyCredential === 'function' && !!globalThis.navigator?.credentials;
}

/** Listeners by name. */
class Emitter {
    /** @type {Map<string, Set<(value: any) => void>>} */ #listeners = new Map();

    /** @param {string} name @param {(value: any) => void} listener @returns {() => void} stops it */
    on(name, listener) {
        const set = this.#listeners.get(name) ?? new Set();
        this.#listeners.set(name, set.add(listener));
        return () => void set.delete(listener);
    }

    /** @param {string} name @param {any} value */
    tell(name, value) {
        for (const listener of this.#listeners.get(name) ?? []) {
            // A listener's fault is its own: it must not become that of a refresh or a socket.
            try { listener(value); } catch (error) { queueMicrotask(() => { throw error; }); }
        }
    }
}

/** A browser's session with the gateway. One object a page is enough. */
export class Gatehouse {
    #base;
    /** @type {string|null} */ #token = null;
    #expiresAt = 0;
    /** The token that the socket was opened with. @type {string|null} */ #rests = null;
    /** @type {Session|null} */ #session = null;
    /** When the session was heard of last. */ #heardAt = 0;
    /** @type {Promise<void>|null} */ #refreshing = null;
    /** @type {Promise<unknown>} */ #asking = Promise.resolve();
    /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;
    /** Whether it is time for a refresh, and the browser is offline. */ #isDue = false;
    #events = new Emitter();
    #socket;
    #channel;
    #api;

    /** @param {{base?: string}} [options] `base`: origin of the gateway, by default that of the page. */
    constructor({ base = location.origin } = {}) {
        this.#base = new URL(base);
        this.#api = new ExperienceClient({ baseUrl: base, authorized: (path, init) => this.fetch(path, init) });
        this.#channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('gatehouse') : null;
        this.#channel?.addEventListener('message', ({ data }) => this.#heard(data));
        this.#socket = new AgentSocket({
            base: this.#base,
            mint: async () => {
                try { return await this.#mint(); } catch (refusal) {
                    if (refusal.status !== 401 || !this.#token) throw refusal;
                    await this.refresh(); // its refusal says whether to try again
                    return this.#mint();
                }
            },
            renew: () => this.refresh(),
            hasOther: () => this.#token !== null && this.#token !== this.#rests,
            tell: (name, value) => this.#tell(name, value),
        });
        globalThis.document?.addEventListener('visibilitychange', () => {
            if (document.visibilityState === 'visible') this.#wake();
        });
        // Back from the page cache, and from being offline.
        for (const name of ['pageshow', 'online']) globalThis.addEventListener?.(name, () => this.#wake());
    }

    /** A ticket for a socket of this session, which rests on the token at hand. */
    async #mint() {
        if (!this.#session || !this.#token) throw signedOut();
        this.#rests = this.#token;
        return this.#api.mintTicket(this.#session.session_id);
    }

    /** After a while in which timers may have stood still: a token that has run out is replaced at once. */
    #wake() {
        if (this.#isDue || (this.#token && Date.now() > this.#expiresAt - 5_000)) return this.#refreshQuietly(0);
        // Without a token nothing else would say that the session has ended meanwhile.
        if (this.#session && !this.#token && Math.abs(Date.now() - this.#heardAt) > HEARD_LATELY) this.#askAgain();
    }

    /** The gateway's origin. */
    get base() { return this.#base.origin; }
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
    on(name, listener) { return this.#events.on(name, listener); }

    /**
     * Makes an anonymous session, or picks up the one this browser already has; a login survives a reload.
     * @param {{fresh?: boolean, metadata?: Record<string, unknown>}} [options] `fresh`: a new one in any case.
     * @returns {Promise<Session>}
     */
    async start(options = {}) {
        const session = await alone(() => this.#call('POST', '/api/session/create-anonymous', { body: options }));
        this.#adopt(session);
        if (session.session_secret) {
            const detail = 'Browsers keep sessions over https and on localhost only; here a login will not last.';
            this.#tell('refusal', new Refusal({ code: 'no_cookies', detail }, 0));
        }
        await this.#authorize();
        this.#broadcast({ kind: 'session', session: this.#session });
        return this.#session ?? session;
    }

    /**
     * Signs in. The anonymous session keeps its id and gets an owner and a new secret.
     * @param {{email: string, password: string, tenant?: string}} credentials
     * @returns {Promise<{how: 'upgraded'|'created'|'resumed', session: Session}>}
     */
    async login({ email, password, tenant }) {
        const body = { email, password, ...(tenant ? { tenant_id: tenant } : {}) };
        const attempt = () => this.#signIn('/api/auth/login', body);
        // A login that a reload cut off may still have been under way. If it was the same person's, a repeat is let in.
        return attempt().catch((refusal) => (refusal.code === 'session_conflict' ? attempt() : Promise.reject(refusal)));
    }

    /**
     * The ways to sign in: the identity providers that the operator configured, and whether passwords are accepted.
     * @returns {Promise<SignInOptions>}
     */
    async signInOptions() {
        return this.#api.providers();
    }

    /**
     * The address that signs in at an identity provider and comes back. For a link; {@link loginWith} goes there.
     * @param {{login_url: string}} provider one of {@link signInOptions} @param {ProviderLogin} [options]
     * @returns {string}
     */
    loginURL(provider, { returnTo = location.href, ...asked } = {}) {
        const url = new URL(provider.login_url, this.#base);
        const target = new URL(returnTo, this.#base);
        if (url.origin !== this.#base.origin || target.origin !== this.#base.origin) {
            throw new TypeError('a sign-in begins and ends at the gateway’s origin');
        }
        // Characters that URL parsers leave as they are and the gateway refuses.
        const path = (target.pathname + target.search).replace(/["<>\\^`{|}]/g, encodeURIComponent);
        url.searchParams.set('return_to', path);
        for (const [name, value] of Object.entries(asked)) if (value !== undefined) url.searchParams.set(name, value);
        return url.href;
    }

    /**
     * Leaves the page to sign in at an identity provider, which brings the person back. The session keeps its id.
     * If no user was signed in, the address that they come back to has `login_error` in its query.
     * @param {string} name of the provider, as the operator configured it @param {ProviderLogin} [options]
     * @returns {Promise<void>}
     */
    async loginWith(name, options = {}) {
        const { providers } = await this.signInOptions();
        const provider = providers.find((one) => one.name === name);
        if (!provider) throw new Refusal({ code: 'not_found', detail: `There is no identity provider “${name}”.` }, 0);
        location.assign(this.loginURL(provider, options));
    }

    /**
     * Signs in with a passkey. Rejects with `passkey_declined` when there is none or the person cancels.
     * @returns {Promise<{how: 'upgraded'|'created'|'resumed', session: Session}>}
     */
    async loginWithPasskey() {
        // The passkey signs the session in that the visitor has.
        if (!this.#session) await this.start();
        const options = await alone(() => this.#call('POST', '/api/auth/passkey/login/begin', { body: {} }));
        return this.#signIn('/api/auth/passkey/login/finish', await askAuthenticator('get', options));
    }

    /** Makes a passkey for the account that is signed in. @returns {Promise<void>} */
    async registerPasskey() {
        const path = '/api/auth/passkey/register';
        const options = await this.#call('POST', `${path}/begin`, { body: {}, bearer: true });
        const body = await askAuthenticator('create', options);
        await this.#call('POST', `${path}/finish`, { body, bearer: true });
    }

    /** Ends the session, its login and every token of it. Sockets close with 4403. */
    async logout() {
        const sessionID = this.#session?.session_id ?? null;
        await alone(() => this.#proveLogout());
        await this.#socket.closedByGateway(1_000);
        // Another tab may have begun the next one meanwhile.
        if ((this.#session?.session_id ?? null) === sessionID) this.#forget();
        this.#broadcast({ kind: 'ended', sessionID });
    }

    /** Not by `fetch`: after a 401 it would refresh, and wait for the lock that this holds. */
    async #proveLogout() {
        const path = '/api/auth/logout';
        const token = this.#token;
        if (!token) return this.#call('POST', path);
        return this.#call('POST', path, { headers: { Authorization: `Bearer ${token}` } }).catch((refusal) => {
            if (refusal.status !== 401) throw refusal;
            return this.#call('POST', path); // the cookies prove it, too
        });
    }

    /** Gets a new access token. Open sockets of this login are extended, not closed. Runs by itself before expiry. */
    refresh() {
        const known = this.#expiresAt;
        const session = this.#session?.session_id;
        this.#refreshing ??= alone(async () => {
            if (this.#token && this.#expiresAt > known) return; // another tab was faster
            const asked = Date.now();
            const hasLapsed = this.#token !== null && asked > this.#expiresAt + 1_000;
            const answer = await this.#call('POST', '/api/auth/refresh');
            if (session && !(await this.#isOfOwner(answer))) return;
            this.#accept(answer, asked);
            // The gateway closed the socket when its token ran out. A tab that slept may not have heard of it.
            if (hasLapsed) this.#socket.redial();
        }).catch(async (refusal) => {
            if (!refusal.isPassing) await this.#lapse();
            throw refusal;
        }).finally(() => { this.#refreshing = null; });
        return this.#refreshing;
    }

    /**
     * Whether a new token is for the owner of this session. While it was asked for, another tab may have ended the
     * session or begun the next one; which one this browser has, its cookie says.
     * @param {{user_id?: string}} answer
     */
    async #isOfOwner(answer) {
        const isOwner = () => this.#session !== null
            && (typeof answer?.user_id !== 'string' || answer.user_id === this.#session.user_id);
        if (this.#session && !isOwner()) await this.#current();
        return isOwner();
    }

    /** There will be no new token. Whether there is still a session, the gateway says. */
    async #lapse() {
        this.#dropToken();
        if (this.#session) await this.#askAgain();
    }

    /** @returns {Promise<Session>} The session of this browser's secret, asked afresh. */
    current() { return alone(() => this.#current()); }

    async #current() {
        const session = await this.#call('GET', '/api/session/current');
        this.#adopt(session);
        return session;
    }

    /** Asks for the session there is, and forgets one that is over. */
    async #askAgain() {
        await this.current().catch((gone) => gone.isPassing || this.#forget());
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
     * `fetch` with the access token. When the answer is 401, the token is refreshed once and the request sent again.
     * Rejects for a URL of another origin than the gateway's: the token is never sent there.
     * @param {RequestInfo | URL} input relative to the gateway @param {RequestInit} [init] @returns {Promise<Response>}
     */
    async fetch(input, init = {}) {
        const isRequest = typeof Request === 'function' && input instanceof Request;
        const url = new URL(isRequest ? input.url : /** @type {string} */ (input), this.#base);
        if (url.origin !== this.#base.origin) throw new TypeError('the access token never leaves the gateway’s origin');
        // A body can be read once: the copy is for the second attempt.
        const attempt = () => {
            const headers = new Headers(init.headers ?? (isRequest ? input.headers : undefined));
            if (this.#token) headers.set('Authorization', `Bearer ${this.#token}`);
            return fetch(isRequest ? input.clone() : url, { credentials: 'include', ...init, headers });
        };
        if (!this.#token) await this.#refreshing?.catch(() => {});
        const used = this.#token;
        const answer = await attempt();
        if (answer.status !== 401 || used === null || init.body instanceof ReadableStream) return answer;
        if (this.#token === used) await this.refresh().catch(() => {});
        return this.#token && this.#token !== used ? attempt() : answer;
    }

    /** @param {string} method @param {string} path @param {{body?: unknown, bearer?: boolean, headers?: Record<string, string>}} [options] */
    #call(method, path, options) { return this.#api.call(method, path, options); }

    /** @param {string} path @param {Record<string, unknown>} body */
    #signIn(path, body) {
        return alone(async () => {
            const asked = Date.now();
            const answer = await this.#call('POST', path, { body });
            const session = await this.#current();
            this.#broadcast({ kind: 'session', session });
            this.#accept(answer, asked);
            return { how: answer.session, session };
        });
    }

    /** @param {Session & {session_secret?: string}} answer */
    #adopt(answer) {
        if (typeof answer?.session_id !== 'string' || typeof answer.state !== 'string') throw misunderstood(200);
        const { session_secret: _, ...session } = answer;
        if (session.session_id !== this.#session?.session_id) {
            this.#dropToken();
            this.#socket.forget();
        }
        this.#session = session;
        this.#heardAt = Date.now();
        this.#tell('session', session);
    }

    /** @param {{access_token: string, expires_in: number}} answer @param {number} asked */
    #accept(answer, asked) {
        if (typeof answer?.access_token !== 'string' || !(Number.isFinite(answer.expires_in) && answer.expires_in > 0)) throw misunderstood(200);
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
        this.#socket.renewed();
    }

    #dropToken() {
        clearTimeout(this.#timer);
        this.#isDue = false;
        if (this.#token === null) return;
        this.#token = null;
        this.#expiresAt = 0;
        this.#tell('token', null);
    }

    #forget() {
        this.#dropToken();
        this.#socket.forget();
        this.#session = null;
        this.#tell('session', null);
    }

    /** @param {number} delay @param {number} [attempt] */
    #refreshQuietly(delay, attempt = 0) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            this.#isDue = isOffline();
            if (!this.#isDue) this.#refreshOrRetry(attempt);
        }, Math.min(delay, 2 ** 31 - 1));
    }

    /** @param {number} [attempt] */
    async #refreshOrRetry(attempt = 0) {
        await this.refresh().catch((refusal) => {
            this.#tell('refusal', refusal);
            if (refusal.isPassing) this.#refreshQuietly(backOff(attempt, (refusal.retryAfter ?? 0) * 1000), attempt + 1);
        });
    }

    /** Gets a token for a session that has an owner: another tab's, else a new one. */
    async #authorize() {
        const isMissing = () => this.#session?.state === 'authenticated' && !this.#token;
        if (isMissing() && !(await this.#askOtherTabs()) && isMissing()) await this.#refreshOrRetry();
    }

    // What tabs tell each other. The channel reaches pages of this origin only, as the cookies do.

    /** @param {any} message */
    #heard(message) {
        const mine = this.#session?.session_id;
        if (message.kind === 'want' && message.sessionID === mine && this.#token) this.#broadcast(this.#tokenMessage());
        if (message.kind === 'ended' && message.sessionID === mine) this.#forget();
        if (message.kind === 'session' && message.session) this.#heardOf(message.session);
        if (message.kind === 'token' && message.sessionID === mine && message.token !== this.#token) {
            const expiresAt = Date.now() + message.expiresIn;
            if (expiresAt > this.#expiresAt) this.#hold(message.token, expiresAt);
        }
    }

    /** What another tab has. Two tabs' messages come in any order, and one may be of a session that is over. @param {Session} session */
    async #heardOf(session) {
        const isKnown = () => session.session_id === this.#session?.session_id;
        if (isKnown()) {
            // It never goes back to having no owner.
            if (session.state === 'authenticated' && this.#session?.state !== 'authenticated') this.#adopt(session);
            return;
        }
        // Tabs share the cookie: it says which one counts. Several tabs may tell of the same, and it is asked for once.
        await (this.#asking = this.#asking.then(() => isKnown() || this.current()).catch(() => {}));
        await this.#authorize();
    }

    /** With what is left of its time, and not with a date: the clock may have been set since another tab looked at it. */
    #tokenMessage() {
        const expiresIn = this.#expiresAt - Date.now();
        return { kind: 'token', token: this.#token, expiresIn, sessionID: this.#session?.session_id };
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
    #tell(name, value) { this.#events.tell(name, value); }
}

// MARK: The same in parts

/**
 * The session of this browser: there is one as soon as there is this object, it is kept over reloads and redirects, and
 * made again when it has ended.
 *
 *     const platform = new PlatformState();
 *     platform.on('session', ({ session_id, state }) => console.log(session_id, state));
 *     const session = await platform.ready;
 */
export class PlatformState {
    #gate;
    #metadata;
    #events = new Emitter();
    #attempt = 0;
    #since = 0;
    #isClosed = false;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;
    /** @type {(session: Session) => void} */ #isReady = () => {};
    /** The first session. It waits for the gateway as long as that takes. @type {Promise<Session>} */ ready;

    /**
     * @param {{baseUrl?: string, metadata?: Record<string, unknown>, gate?: Gatehouse}} [options]
     *   `metadata`: for a session that has to be made. `gate`: an object that the page has already.
     */
    constructor({ baseUrl, metadata, gate } = {}) {
        this.#gate = gate ?? new Gatehouse(baseUrl === undefined ? {} : { base: baseUrl });
        this.#metadata = metadata;
        this.ready = new Promise((resolve) => { this.#isReady = resolve; });
        this.#gate.on('session', (session) => this.#changed(session));
        this.#gate.on('refusal', (refusal) => this.#events.tell('refusal', refusal));
        globalThis.addEventListener?.('online', () => !this.session && this.#begin(0));
        this.#begin(0);
    }

    /** What {@link Auth} and {@link RuntimeClient} share with it. */
    get gate() { return this.#gate; }
    /** @returns {Session|null} */
    get session() { return this.#gate.session; }
    /** @returns {string|null} */
    get sessionId() { return this.session?.session_id ?? null; }
    get isAuthenticated() { return this.session?.state === 'authenticated'; }

    /**
     * `session`: it was made, picked up or changed, here or in another tab. `ended`: it is over, and a new one is on
     * its way. `refusal`: something was refused in the background.
     * @param {'session'|'ended'|'refusal'} name @param {(value: any) => void} listener @returns {() => void} stops it
     */
    on(name, listener) { return this.#events.on(name, listener); }

    /** Stops making sessions. The session there is stays. */
    close() {
        this.#isClosed = true;
        clearTimeout(this.#timer);
    }

    /** @param {Session|null} session */
    #changed(session) {
        if (session) {
            this.#events.tell('session', session);
            return this.#isReady(session);
        }
        this.#events.tell('ended', null);
        // A session that ends as soon as it is made must not become a loop.
        if (Date.now() - this.#since > 60_000) this.#attempt = 0;
        this.#begin(this.#attempt === 0 ? 0 : backOff(this.#attempt));
    }

    /** @param {number} delay */
    #begin(delay) {
        clearTimeout(this.#timer);
        if (this.#isClosed) return;
        this.#timer = setTimeout(async () => {
            if (isOffline()) return; // `online` begins again
            this.#attempt += 1;
            try {
                await this.#gate.start(this.#metadata ? { metadata: this.#metadata } : {});
                this.#since = Date.now();
            } catch (error) {
                const refusal = /** @type {Refusal} */ (error);
                this.#events.tell('refusal', refusal);
                // What is refused for good is asked again, too, but rarely: nothing works without a session.
                this.#begin(refusal.isPassing ? backOff(this.#attempt, (refusal.retryAfter ?? 0) * 1000) : 30_000);
            }
        }, delay);
    }
}

/**
 * Who it is: signing in and out, and the access token, which is refreshed ahead of its end by one tab for all.
 *
 *     const auth = new Auth(platform);
 *     auth.on('change', ({ userId }) => console.log(userId ?? 'signed out'));
 *     await auth.login({ email, password });       // or auth.loginWith('keycloak'), or auth.loginWithPasskey()
 *     auth.goToSignIn();                           // or at the gateway's own page, which comes back here
 */
export class Auth {
    #gate;
    #events = new Emitter();
    /** @type {string|null} */ #userID = null;

    /** @param {PlatformState|Gatehouse} platform */
    constructor(platform) {
        this.#gate = platform instanceof PlatformState ? platform.gate : platform;
        this.#gate.on('session', (session) => {
            const before = this.#userID;
            this.#userID = session?.state === 'authenticated' ? session.user_id : null;
            if (before !== this.#userID) this.#events.tell('change', { userId: this.#userID, session });
        });
        this.#gate.on('token', (token) => this.#events.tell('token', token));
    }

    /** @returns {string|null} */
    get userId() { return this.#gate.session?.state === 'authenticated' ? this.#gate.session.user_id : null; }
    get isAuthenticated() { return this.userId !== null; }
    /** Keep it in memory, and read it anew each time. */
    get accessToken() { return this.#gate.accessToken; }

    /**
     * `change`: a user signed in or out, here or in another tab. `token`: an access token arrived, or is gone.
     * @param {'change'|'token'} name @param {(value: any) => void} listener @returns {() => void} stops it
     */
    on(name, listener) { return this.#events.on(name, listener); }

    /** @param {{email: string, password: string, tenant?: string}} credentials */
    login(credentials) { return this.#gate.login(credentials); }
    /**
     * Leaves the page for an identity provider, which brings the person back.
     * @param {string} name @param {ProviderLogin} [options]
     */
    loginWith(name, options) { return this.#gate.loginWith(name, options); }
    loginWithPasskey() { return this.#gate.loginWithPasskey(); }
    registerPasskey() { return this.#gate.registerPasskey(); }
    /** The ways to sign in. */
    options() { return this.#gate.signInOptions(); }
    refresh() { return this.#gate.refresh(); }
    /** Ends this session, in all tabs. */
    logout() { return this.#gate.logout(); }

    /** Ends every session of this person, on every device; this one last. */
    async logoutEverywhere() {
        const api = new ExperienceClient({
            baseUrl: this.#gate.base, authorized: (path, init) => this.#gate.fetch(path, init),
        });
        const mine = this.#gate.session?.session_id;
        for (const { session_id: id } of await api.sessions()) {
            // One that ended in the meantime is no fault.
            if (id !== mine) await api.endSession(id).catch((refusal) => refusal.status === 410 || Promise.reject(refusal));
        }
        await this.#gate.logout();
    }

    /**
     * The address of the gateway's sign-in page, which brings the person back.
     * @param {string} [returnTo] by default this page
     */
    signInURL(returnTo = location.href) {
        const back = new URL(returnTo, location.href);
        const url = new URL('/.gatehouse/sign-in', this.#gate.base);
        if (back.origin !== url.origin) throw new TypeError('a sign-in ends at the gateway’s origin');
        url.searchParams.set('return_to', back.pathname + back.search);
        return url.href;
    }

    /** Leaves the page for the gateway's sign-in page. @param {string} [returnTo] by default this page */
    goToSignIn(returnTo) { location.assign(this.signInURL(returnTo)); }
}

/**
 * The socket of a session by itself, for programs that hold the access token: a ticket in place of the token in the
 * URL, back-off with jitter, and a stream in which no event is lost or doubled.
 *
 *     const runtime = new RuntimeClient({ baseUrl, accessToken: () => auth.accessToken, sessionId, autoReconnect: true });
 *     runtime.on('event', (frame) => console.log(frame));
 *     await runtime.connect();                          // rejects with `credentials_missing`: it may not yet
 *     const data = await runtime.intent('echo', { hello: 'world' });
 */
export class RuntimeClient {
    #events = new Emitter();
    #token;
    #sessionID;
    #socket;

    /**
     * @param {{baseUrl?: string, accessToken: Given, sessionId: Given, autoReconnect?: boolean,
     *          renew?: () => Promise<unknown>}} options
     *   `accessToken`, `sessionId`: values, or functions that return them. `renew`: gets a new token when the one that
     *   the socket rests on has expired; without it, `accessToken` is read again and must have changed.
     */
    constructor({ baseUrl = location.origin, accessToken, sessionId, autoReconnect = true, renew }) {
        this.#token = accessToken;
        this.#sessionID = sessionId;
        const api = new ExperienceClient({ baseUrl, accessToken: () => given(this.#token) });
        /** @type {string|null} */
        let used = null;
        this.#socket = new AgentSocket({
            base: new URL(baseUrl),
            reconnects: autoReconnect,
            mint: () => {
                const id = given(this.#sessionID);
                used = given(this.#token);
                if (!used || !id) throw signedOut();
                return api.mintTicket(id);
            },
            renew: async () => {
                await renew?.();
                if (given(this.#token) !== used) return;
                throw new Refusal({ code: 'token_expired', detail: 'There is no newer access token.' }, 401);
            },
            tell: (name, value) => this.#events.tell(name, value),
        });
    }

    /** @returns {SocketStatus} */
    get status() { return this.#socket.status; }
    get isOpen() { return this.#socket.status.state === 'open'; }

    /**
     * `event`: a frame of the stream. `socket`: its state. `sent`: an intent went out. `refusal`: a refused attempt.
     * @param {'event'|'socket'|'sent'|'refusal'} name @param {(value: any) => void} listener
     * @returns {() => void} stops it
     */
    on(name, listener) { return this.#events.on(name, listener); }

    /** @param {{resumeFrom?: number}} [options] @returns {Promise<void>} once the socket is ready */
    connect(options = {}) { return this.#socket.open(options.resumeFrom); }
    /** Closes the socket for good. */
    disconnect() { this.#socket.close(); }

    /** @param {string} intent @param {unknown} [params] @param {{id?: string}} [options] @returns {Promise<any>} */
    intent(intent, params = {}, { id = newID() } = {}) { return this.#socket.send(id, intent, params); }

    /**
     * Another token or session. The socket there is stays as it is.
     * @param {{accessToken?: Given, sessionId?: Given}} credentials
     */
    update({ accessToken, sessionId }) {
        if (accessToken !== undefined) this.#token = accessToken;
        if (sessionId !== undefined) this.#sessionID = sessionId;
    }
}

/** @typedef {string|null|(() => string|null)} Given   A value, or a function that returns it. */

/** @param {Given|undefined} value @returns {string|null} */
function given(value) { return (typeof value === 'function' ? value() : value) ?? null; }

/**
 * The gateway's HTTP API: one method for each request. Every refusal is thrown as a {@link Refusal} with its `code`.
 * In a browser the session is that of its cookie; elsewhere give the `sessionSecret`.
 *
 *     const api = new ExperienceClient({ accessToken: () => auth.accessToken });
 *     const { email } = await api.me();
 *     await api.endSession(id).catch((refusal) => refusal.code === 'session_mismatch' || Promise.reject(refusal));
 */
export class ExperienceClient {
    #base;
    #token;
    #secret;
    #timeout;
    #authorized;

    /**
     * @param {{baseUrl?: string, accessToken?: Given, sessionSecret?: Given, timeout?: number,
     *          authorized?: (path: string, init: RequestInit) => Promise<Response>}} [options]
     *   `timeout`: of a request, in milliseconds. `authorized`: sends what takes an access token, such as `gate.fetch`.
     */
    constructor({ baseUrl = location.origin, accessToken, sessionSecret, timeout = 30_000, authorized } = {}) {
        this.#base = new URL(baseUrl);
        this.#token = accessToken;
        this.#secret = sessionSecret;
        this.#timeout = timeout;
        this.#authorized = authorized;
    }

    /** @param {{metadata?: Record<string, unknown>, fresh?: boolean}} [options] */
    createAnonymousSession(options = {}) { return this.call('POST', '/api/session/create-anonymous', { body: options }); }
    /** A session of the token's user. @param {{metadata?: Record<string, unknown>}} [options] */
    createSession(options = {}) { return this.call('POST', '/api/session/create', { body: options, bearer: true }); }
    currentSession() { return this.call('GET', '/api/session/current'); }
    /** @param {string} id */
    session(id) { return this.call('GET', sessionPath(id), { bearer: true }); }
    /** The caller's live sessions. @returns {Promise<Session[]>} */
    async sessions() { return (await this.call('GET', '/api/session', { bearer: true })).sessions; }
    /** @param {string} id @param {{metadata?: Record<string, unknown>}} [options] */
    upgradeSession(id, options = {}) {
        return this.call('PATCH', `${sessionPath(id)}/upgrade`, { body: options, bearer: true });
    }

    /** @param {string} id */
    endSession(id) { return this.call('DELETE', sessionPath(id), { bearer: true }); }
    /** @param {string} id @returns {Promise<string>} a ticket for one socket, good for 30 s */
    async mintTicket(id) {
        const answer = await this.call('POST', `${sessionPath(id)}/ticket`, { bearer: true });
        if (typeof answer?.ticket !== 'string') throw misunderstood(200);
        return answer.ticket;
    }

    /** @param {{email: string, password: string, tenant?: string, sessionId?: string}} credentials */
    login({ email, password, tenant, sessionId }) {
        const body = {
            email, password, ...(tenant ? { tenant_id: tenant } : {}), ...(sessionId ? { session_id: sessionId } : {}),
        };
        return this.call('POST', '/api/auth/login', { body });
    }

    /** @param {string} [refreshToken] in a browser it is a cookie, and left out */
    refresh(refreshToken) {
        return this.call('POST', '/api/auth/refresh', refreshToken ? { body: { refresh_token: refreshToken } } : {});
    }

    logout() { return this.call('POST', '/api/auth/logout', { bearer: true }); }
    me() { return this.call('GET', '/api/auth/me', { bearer: true }); }
    /** @param {{current: string, next: string}} passwords */
    changePassword({ current, next }) {
        return this.call('POST', '/api/auth/password', { body: { current, new: next }, bearer: true });
    }

    /** The ways to sign in. @returns {Promise<SignInOptions>} */
    providers() { return this.call('GET', '/api/auth/providers', { credentials: 'omit' }); }

    /**
     * Runs one intent without a socket.
     * @param {string} sessionId @param {string} intent @param {unknown} [params] @param {{id?: string}} [options]
     * @returns {Promise<any>} the result's data
     */
    async intent(sessionId, intent, params = {}, { id = newID() } = {}) {
        const frame = await this.call('POST', '/api/intent', {
            body: { type: 'intent', id, intent, params }, bearer: true, headers: { 'Session-Id': sessionId },
        });
        if (frame?.event === 'result') return frame.data;
        throw new Refusal({ code: frame?.error?.code, detail: frame?.error?.message }, 200);
    }

    /** What programs the caller has let in. */
    async grants() { return (await this.call('GET', '/api/auth/grants', { bearer: true })).grants; }
    /** @param {string} id */
    endGrant(id) { return this.call('DELETE', `/api/auth/grants/${encodeURIComponent(id)}`, { bearer: true }); }
    /** @param {{name: string, scopes: string[], expires_in: number, resource?: string}} wish */
    createToken(wish) { return this.call('POST', '/api/auth/tokens', { body: wish, bearer: true }); }
    async tokens() { return (await this.call('GET', '/api/auth/tokens', { bearer: true })).tokens; }
    /** @param {string} id */
    endToken(id) { return this.call('DELETE', `/api/auth/tokens/${encodeURIComponent(id)}`, { bearer: true }); }

    /**
     * Any request of the API.
     * @param {string} method @param {string} path
     * @param {{body?: unknown, bearer?: boolean, headers?: Record<string, string>, credentials?: RequestCredentials}} [options]
     *   `bearer`: with the access token
     * @returns {Promise<any>} the JSON of the answer; null where it has none
     */
    async call(method, path, { body, bearer = false, headers = {}, credentials = 'include' } = {}) {
        const url = new URL(path, this.#base);
        if (url.origin !== this.#base.origin) throw new TypeError('credentials never leave the gateway’s origin');
        /** @type {RequestInit} */
        const init = { method, credentials, cache: 'no-store', headers: { ...headers } };
        const fields = /** @type {Record<string, string>} */ (init.headers);
        if (body !== undefined) {
            init.body = JSON.stringify(body);
            fields['Content-Type'] = 'application/json';
        }
        const secret = given(this.#secret);
        if (secret) fields['Session-Secret'] = secret;
        // An answer that never comes must not hold the lock that all tabs share.
        if (typeof AbortSignal?.timeout === 'function') init.signal = AbortSignal.timeout(this.#timeout);
        if (bearer && this.#authorized) return readAnswer(await this.#authorized(url.href, init).catch(unreachable));
        const token = bearer ? given(this.#token) : null;
        if (token) fields.Authorization = `Bearer ${token}`;
        return readAnswer(await fetch(url, init).catch(unreachable));
    }
}

/** @param {string} id */
function sessionPath(id) { return `/api/session/${encodeURIComponent(id)}`; }

/** One WebSocket after another that together look like a single one. */
class AgentSocket {
    /** @type {SocketStatus} */ status = { state: 'idle' };
    #base; #mint; #renew; #hasOther; #tell; #reconnects;
    /** @type {WebSocket|null} */ #ws = null;
    /** @type {number|null} */ #lastSeq = null;
    #catchUpTo = 0;
    #attempt = 0;
    #wanted = false;
    #ready = false;
    /** Whether it was closed because its token was revoked. */ #isRevoked = false;
    /** Raised with every dial; answers for an older one are ignored. */ #run = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;
    /** @type {{resolve: () => void, reject: (error: unknown) => void}[]} */ #waiting = [];
    /** @type {Map<string, {intent: string, params: unknown, text: string, sent: number, answered: Promise<any>, resolve: Function, reject: Function}>} */
    #pending = new Map();

    /**
     * @param {{base: URL, mint: () => Promise<string>, renew: () => Promise<void>, hasOther?: () => boolean,
     *          tell: (name: string, value: any) => void, reconnects?: boolean}} parts
     *   `hasOther`: whether there is another token than the one that the last ticket was made with.
     */
    constructor({ base, mint, renew, hasOther = () => false, tell, reconnects = true }) {
        this.#base = base;
        this.#mint = mint;
        this.#renew = renew;
        this.#hasOther = hasOther;
        this.#tell = tell;
        this.#reconnects = reconnects;
        globalThis.addEventListener?.('online', () => this.status.state === 'waiting' && this.#dial());
    }

    /** Dials anew where a socket is wanted: the one there is cannot be alive. */
    redial() {
        if (!this.#wanted) return;
        this.#ready = false;
        this.#dial();
    }

    /** There is a new token. A new login of the same session revokes the old one's, and a socket that rested on it comes back. */
    renewed() {
        if (this.#isRevoked) this.open().catch((refusal) => this.#tell('refusal', refusal));
    }

    /** @param {number} [resumeFrom] @returns {Promise<void>} */
    open(resumeFrom) {
        if (this.#wanted && this.#ready) return Promise.resolve();
        // What another session's socket was to say must not be said on this one.
        if (!this.#wanted) this.#abandon(new Refusal({ code: 'closed_here' }, 0));
        /** @type {Promise<void>} */
        const opened = new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
        if (!this.#wanted) {
            this.#wanted = true;
            this.#isRevoked = false;
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
        this.#isRevoked = false;
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
        const known = this.#pending.get(id);
        if (known) return known.answered;
        let text = '';
        try { text = JSON.stringify({ type: 'intent', id, intent, params }); } catch (error) { return Promise.reject(error); }
        /** @type {(value: any) => void} */ let resolve = () => {};
        /** @type {(error: unknown) => void} */ let reject = () => {};
        const answered = new Promise((...both) => { [resolve, reject] = both; });
        this.#pending.set(id, { intent, params, text, sent: 0, answered, resolve, reject });
        this.#flush();
        return answered;
    }

    async #dial() {
        clearTimeout(this.#timer);
        const run = ++this.#run;
        this.#ws?.close(1000);
        this.#ws = null;
        if (isOffline()) return this.#report({ state: 'waiting', offline: true, attempt: this.#attempt });
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
        let ws;
        try {
            ws = this.#ws = new WebSocket(url);
        } catch (error) {
            // A page over https may open none over http. No later attempt changes that.
            const refusal = new Refusal({ code: 'unreachable', detail: String(error) }, 0);
            if (this.#waiting.length === 0) this.#tell('refusal', refusal);
            return this.#stop({ state: 'closed' }, refusal);
        }
        ws.onmessage = ({ data }) => run === this.#run && this.#frame(data);
        ws.onclose = ({ code, reason }) => run === this.#run && this.#lost(code, reason);
        // Something between that accepts sockets and says nothing must not be waited for.
        this.#timer = setTimeout(() => {
            if (run !== this.#run || this.#ready) return;
            ws.close(1000);
            this.#run += 1;
            this.#lost(1006, '');
        }, READY_WITHIN);
    }

    /** @param {string} text */
    #frame(text) {
        if (!this.#wanted) return; // what still comes of a session that this page has left
        let frame = null;
        try { frame = JSON.parse(text); } catch { /* told below */ }
        if (!isFrame(frame)) {
            const detail = 'A frame of the socket was not understood. It was left out.';
            return this.#tell('refusal', new Refusal({ code: 'malformed_frame', detail }, 0));
        }
        if (frame.type === 'ready') {
            clearTimeout(this.#timer);
            this.#ready = true;
            // One that closes again at once was one more attempt: else it would be dialled without a pause for ever.
            this.#timer = setTimeout(() => { this.#attempt = 0; }, STEADY_AFTER);
            if (frame.lost) this.#lastSeq = frame.first_seq - 1;
            if (this.#lastSeq === null || this.#lastSeq > frame.last_seq) this.#lastSeq = frame.last_seq;
            this.#catchUpTo = frame.last_seq;
            this.#report({ state: 'open' });
            for (const { resolve } of this.#waiting.splice(0)) resolve();
        } else if (frame.type === 'event') {
            this.#settle(frame);
            if (this.#lastSeq !== null && frame.seq <= this.#lastSeq) return; // seen before the reconnect
            this.#lastSeq = frame.seq;
        } else if (frame.type === 'error' && frame.id) {
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
            this.#ws?.send(pending.text);
            this.#tell('sent', { id, intent: pending.intent, params: pending.params, again });
        }
    }

    /** @param {Refusal} refusal of a ticket */
    #refused(refusal) {
        // A caller that waits for `connect` is told by its rejection.
        if (refusal.isPassing || this.#waiting.length === 0) this.#tell('refusal', refusal);
        if (refusal.isPassing && this.#reconnects) this.#later({}, (refusal.retryAfter ?? 0) * 1000);
        else this.#stop({ state: 'closed' }, refusal);
    }

    /** @param {number} code @param {string} reason */
    #lost(code, reason) {
        clearTimeout(this.#timer);
        this.#ws = null;
        this.#ready = false;
        if (code === 1009) this.#dropUnanswered();
        const returns = this.#wanted && this.#reconnects;
        const isRevoked = returns && code === 4401 && reason === 'token_revoked';
        const next = isRevoked && this.#hasOther() ? 'retry' : returns ? afterClose(code, reason) : 'stop';
        if (next === 'stop') {
            this.#stop({ state: 'closed', code, reason }, new Refusal({ code: reason || `close_${code}` }, 0));
            this.#isRevoked = isRevoked;
        } else if (next === 'renew' && this.#attempt === 0) {
            this.#report({ state: 'waiting', code, reason, retryIn: 0 });
            this.#attempt += 1;
            this.#renewAndDial();
        } else {
            this.#later({ code, reason }, code === 1013 ? 2_000 : 0, next === 'renew');
        }
    }

    async #renewAndDial() {
        const run = this.#run;
        try {
            await this.#renew();
            if (run === this.#run) this.#dial();
        } catch (error) {
            if (run === this.#run) this.#refused(/** @type {Refusal} */ (error));
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

    /** @param {{code?: number, reason?: string}} why @param {number} least @param {boolean} [renews] the token first */
    #later(why, least, renews = false) {
        if (!this.#reconnects) return this.#stop({ state: 'closed', ...why }, new Refusal({ code: 'unreachable' }, 0));
        if (isOffline()) {
            return this.#report({ state: 'waiting', ...why, offline: true, attempt: this.#attempt });
        }
        const retryIn = backOff(this.#attempt, least);
        this.#attempt += 1;
        this.#report({ state: 'waiting', ...why, retryIn, attempt: this.#attempt });
        this.#timer = setTimeout(() => (renews ? this.#renewAndDial() : this.#dial()), retryIn);
    }

    /** @param {SocketStatus} status @param {Refusal} refusal */
    #stop(status, refusal) {
        clearTimeout(this.#timer);
        this.#run += 1;
        this.#wanted = this.#ready = this.#isRevoked = false;
        this.#ws = null;
        this.#abandon(refusal);
        this.#report(status);
    }

    /** @param {Refusal} refusal for all that wait for something of this socket */
    #abandon(refusal) {
        for (const { reject } of this.#waiting.splice(0)) reject(refusal);
        for (const { reject } of this.#pending.values()) reject(refusal);
        this.#pending.clear();
    }

    /** @param {SocketStatus} status */
    #report(status) {
        this.status = status;
        this.#tell('socket', status);
    }
}

/** How long ago a session without a token may have been heard of until it is asked for again, in milliseconds. */
const HEARD_LATELY = 300_000;

/** How long a socket may take until its first frame, in milliseconds. */
const READY_WITHIN = 20_000;
/** How long it has to stay until its next loss counts as a first one, in milliseconds. */
const STEADY_AFTER = 10_000;

/** The JSON of a good answer; throws a {@link Refusal} for every other. @param {Response} answer */
export async function readAnswer(answer) {
    const text = await answer.text().catch(unreachable);
    let value;
    try { value = text ? JSON.parse(text) : null; } catch { /* told below */ }
    if (answer.ok && value !== undefined && (value !== null || text === '')) return value;
    const retryAfter = Number.parseInt(answer.headers.get('Retry-After') ?? '', 10);
    const after = Number.isNaN(retryAfter) ? null : retryAfter;
    const isProblem = value && typeof value === 'object' && !Array.isArray(value);
    if (!isProblem) throw misunderstood(answer.status, text, after);
    throw new Refusal(value, answer.status, after);
}

/**
 * An answer that cannot be the gateway's, in words.
 * @param {number} status @param {string} [text] @param {number|null} [retryAfter]
 */
function misunderstood(status, text = '', retryAfter = null) {
    const what = /^\s*</.test(text) ? 'a page (HTML)' : text ? 'something that is not JSON' : 'nothing that says more';
    const detail = `The answer was status ${status} and ${what}. Something between this page and the gateway may have `
        + 'answered: a proxy, a captive portal, a service worker.';
    return new Refusal({ code: 'unexpected_answer', detail }, status, retryAfter);
}

/** The refusal of what takes a login, told without asking. */
function signedOut() {
    return new Refusal({ code: 'credentials_missing', detail: 'No user is signed in here. Log in first.' }, 0);
}

/** Whether the browser says that it has no network. (That it has one is no promise.) */
function isOffline() { return globalThis.navigator?.onLine === false; }

/** Whether a value is a frame of the agent protocol. @param {any} frame */
function isFrame(frame) {
    if (frame?.type === 'ready') {
        return Number.isSafeInteger(frame.last_seq) && (!frame.lost || Number.isSafeInteger(frame.first_seq));
    }
    if (frame?.type === 'event') return Number.isSafeInteger(frame.seq) && typeof frame.id === 'string';
    return frame?.type === 'error';
}

/** @param {any} error @returns {never} */
function unreachable(error) {
    throw error instanceof Refusal ? error : new Refusal({ code: 'unreachable', detail: String(error?.message ?? error) }, 0);
}

/**
 * Lets the person's authenticator answer, and writes the answer as JSON (WebAuthn Level 3 §5.1.8 and §5.1.9).
 * By hand: the browser's own conversions are younger than passkeys.
 * @param {'create'|'get'} way @param {Record<string, any>} options with base64url in place of bytes
 * @returns {Promise<Record<string, unknown>>}
 */
async function askAuthenticator(way, options) {
    if (!canUsePasskeys()) throw new Refusal({ code: 'passkeys_unsupported' }, 0);
    /** @param {any} list */
    const named = (list) => list?.map((/** @type {any} */ one) => ({ ...one, id: bytes(one.id) }));
    /** @type {any} */
    const publicKey = {
        ...options,
        challenge: bytes(options.challenge),
        ...(options.user ? { user: { ...options.user, id: bytes(options.user.id) } } : {}),
        ...(options.excludeCredentials ? { excludeCredentials: named(options.excludeCredentials) } : {}),
        ...(options.allowCredentials ? { allowCredentials: named(options.allowCredentials) } : {}),
    };
    /** @type {any} */
    let credential;
    try {
        credential = await navigator.credentials[way]({ publicKey });
    } catch (error) {
        const { name, message } = /** @type {Error} */ (error);
        const code = { NotAllowedError: 'passkey_declined', AbortError: 'passkey_declined',
            InvalidStateError: 'passkey_exists' }[name] ?? 'passkeys_unsupported';
        throw new Refusal({ code, detail: message }, 0);
    }
    if (!credential) throw new Refusal({ code: 'passkey_declined' }, 0);
    const { response } = credential;
    /** @type {Record<string, unknown>} */
    const answer = { clientDataJSON: base64url(response.clientDataJSON) };
    if (way === 'create') {
        answer.authenticatorData = base64url(response.getAuthenticatorData());
        answer.publicKey = base64url(response.getPublicKey());
        answer.publicKeyAlgorithm = response.getPublicKeyAlgorithm();
        answer.transports = response.getTransports();
        answer.attestationObject = base64url(response.attestationObject);
    } else {
        answer.authenticatorData = base64url(response.authenticatorData);
        answer.signature = base64url(response.signature);
        answer.userHandle = base64url(response.userHandle);
    }
    const id = base64url(credential.rawId);
    return { id, rawId: id, type: credential.type, response: answer, clientExtensionResults: {} };
}

/** @param {string} text in base64url */
function bytes(text) {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (byte) => byte.charCodeAt(0));
}

/** @param {ArrayBuffer|null} buffer */
function base64url(buffer) {
    const text = btoa(Array.from(new Uint8Array(buffer ?? []), (byte) => String.fromCharCode(byte)).join(''));
    return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** How long a tab waits for another, in milliseconds: longer than the two requests of its login may take. */
const PATIENCE = 75_000;

/**
 * Runs a job whose request sets or clears cookies, one at a time across all tabs of the origin where the browser can: otherwise the
 * late answer of one (a refresh) would put its cookies in the place of a newer one's (a login), or clear them.
 * @param {() => any} job @returns {Promise<any>}
 */
async function alone(job) {
    const locks = globalThis.navigator?.locks;
    if (!locks) return job();
    let hasBegun = false;
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), PATIENCE);
    try {
        return await locks.request('gatehouse', { signal: waiting.signal }, () => {
            clearTimeout(timer);
            hasBegun = true;
            return job();
        });
    } catch (error) {
        // A tab that was frozen holds the lock, or this page may have none.
        if (hasBegun) throw error;
        return job();
    } finally {
        clearTimeout(timer);
    }
}

/** 128 random bits. (`crypto.randomUUID` is missing on plain http.) */
function newID() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {number} duration */
function sleep(duration) { return new Promise((resolve) => setTimeout(resolve, duration)); }
