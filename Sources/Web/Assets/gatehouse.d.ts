/** Types of `gatehouse.js`, whose comments have the details. */

export interface Session {
    /** An address, not a credential. */
    session_id: string;
    state: 'anonymous' | 'authenticated' | 'ended' | 'expired';
    tenant_id: string | null;
    user_id: string | null;
    created_at: string;
    expires_at: string;
    last_seen_at: string;
    metadata: Record<string, unknown>;
}

export interface SocketStatus {
    state: 'idle' | 'connecting' | 'open' | 'waiting' | 'closed';
    /** Close code of the socket that was lost. */
    code?: number;
    /** Its close reason, such as `token_expired`. */
    reason?: string;
    /** Milliseconds until the next attempt, in state `waiting`. */
    retryIn?: number;
    /** How many attempts have failed in a row. */
    attempt?: number;
    /** In state `waiting`: the browser is offline; no attempt is made until it is online. */
    offline?: boolean;
}

/** A frame of the session's stream. */
export type Frame =
    | { type: 'ready'; session: Pick<Session, 'state' | 'tenant_id' | 'user_id'>; last_seq: number; lost?: true; first_seq?: number }
    | { type: 'event'; seq: number; id: string; event: 'result'; data: unknown }
    | { type: 'event'; seq: number; id: string; event: 'error'; error: { code: string; message: string } }
    | { type: 'error'; id?: string; error: { code: string; message: string } };

/** What {@link Gatehouse.on} tells, by name. */
export interface Events {
    /** The session changed, here or in another tab; null: it is over. */
    session: Session | null;
    /** An access token arrived (milliseconds since 1970), or is gone. */
    token: { expiresAt: number } | null;
    socket: SocketStatus;
    event: Frame;
    /** An intent went out. */
    sent: { id: string; intent: string; params: unknown; again: boolean };
    /** Something was refused in the background (refresh, reconnect). */
    refusal: Refusal;
}

/** The ways to sign in. */
export interface SignInOptions {
    providers: { name: string; display_name: string; login_url: string }[];
    /** Whether e-mail and password are accepted. */
    password: boolean;
}

/** What is asked of a sign-in at an identity provider. */
export interface ProviderLogin {
    /** Where to come back to: a URL or path of the gateway's origin. By default this page. */
    returnTo?: string;
    /** `login`, `consent`, `select_account`, …, for the provider. */
    prompt?: string;
    /** Whom it should offer, such as an e-mail address. */
    login_hint?: string;
    /** How many seconds ago the person may have signed in there at most. */
    max_age?: string;
    /** Which authentication context is asked for. */
    acr_values?: string;
}

/** How a sign-in ended. */
export interface SignedIn {
    /** `upgraded`: the anonymous session has an owner now, under the same id. */
    how: 'upgraded' | 'created' | 'resumed';
    session: Session;
}

/** An answer that was a refusal (problem+json), or no answer at all (`code` is then `unreachable`). */
export class Refusal extends Error {
    constructor(problem: Record<string, any>, status: number, retryAfter?: number | null);
    status: number;
    /** One of the closed list of codes, or one of the client's own. */
    code: string;
    title: string;
    detail: string;
    /** Which check failed. Only told where the operator allows it (`errors.explain`). */
    reason: string | null;
    requestID: string | null;
    /** In seconds. */
    retryAfter: number | null;
    /** Whether asking again later can help. */
    get isPassing(): boolean;
}

/** A browser's session with the gateway. One object a page is enough. */
export class Gatehouse {
    /** @param options `base`: origin of the gateway, by default that of the page. */
    constructor(options?: { base?: string });
    /** The gateway's origin. */
    get base(): string;
    /** The session as last heard of. */
    get session(): Session | null;
    /** Whether an access token is at hand. */
    get authorized(): boolean;
    /** The access token, for requests that {@link fetch} cannot make. Keep it in memory, and read it anew each time. */
    get accessToken(): string | null;
    get socket(): SocketStatus;
    /** Calls `listener` whenever `name` happens; the function that is returned stops it. */
    on<Name extends keyof Events>(name: Name, listener: (value: Events[Name]) => void): () => void;
    /** Makes an anonymous session, or picks up the one this browser already has; `fresh`: a new one in any case. */
    start(options?: { fresh?: boolean; metadata?: Record<string, unknown> }): Promise<Session>;
    /** Signs in. The anonymous session keeps its id and gets an owner and a new secret. */
    login(credentials: { email: string; password: string; tenant?: string }): Promise<SignedIn>;
    /** The identity providers that the operator configured, and whether passwords are accepted. */
    signInOptions(): Promise<SignInOptions>;
    /** The address that signs in at an identity provider and comes back. */
    loginURL(provider: { login_url: string }, options?: ProviderLogin): string;
    /** Leaves the page to sign in at an identity provider, which brings the person back. */
    loginWith(name: string, options?: ProviderLogin): Promise<void>;
    /** Signs in with a passkey. Rejects with `passkey_declined` when there is none or the person cancels. */
    loginWithPasskey(): Promise<SignedIn>;
    /** Makes a passkey for the account that is signed in. */
    registerPasskey(): Promise<void>;
    /** Ends the session, its login and every token of it. Sockets close with 4403. */
    logout(): Promise<void>;
    /** Gets a new access token. Open sockets of this login are extended, not closed. Runs by itself before expiry. */
    refresh(): Promise<void>;
    /** The session of this browser's secret, asked afresh. */
    current(): Promise<Session>;
    /** Opens the session's socket and keeps it open; `resumeFrom`: replay what came after this sequence number. */
    connect(options?: { resumeFrom?: number }): Promise<void>;
    /** Closes the socket for good. */
    disconnect(): void;
    /** Runs an intent over the socket. Sent again under its id after a reconnect, which never runs it twice. */
    intent<Data = any>(intent: string, params?: unknown, options?: { id?: string }): Promise<Data>;
    /** `fetch` with the access token, refreshed once at a 401. Rejects for a URL of another origin. */
    fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
}

/** A value, or a function that returns it. */
export type Given = string | null | (() => string | null);

/** The session of this browser: made when there is none, kept over reloads, and made again when it has ended. */
export class PlatformState {
    /** @param options `metadata`: for a session that has to be made. `gate`: an object that the page has already. */
    constructor(options?: { baseUrl?: string; metadata?: Record<string, unknown>; gate?: Gatehouse });
    /** The first session. It waits for the gateway as long as that takes. */
    ready: Promise<Session>;
    /** What {@link Auth} shares with it. */
    get gate(): Gatehouse;
    get session(): Session | null;
    get sessionId(): string | null;
    get isAuthenticated(): boolean;
    /** It was made, picked up or changed, here or in another tab. */
    on(name: 'session', listener: (session: Session) => void): () => void;
    /** It is over, and a new one is on its way. */
    on(name: 'ended', listener: (nothing: null) => void): () => void;
    /** Something was refused in the background. */
    on(name: 'refusal', listener: (refusal: Refusal) => void): () => void;
    /** Stops making sessions. The session there is stays. */
    close(): void;
}

/** Who it is: signing in and out, and the access token, refreshed ahead of its end by one tab for all. */
export class Auth {
    constructor(platform: PlatformState | Gatehouse);
    get userId(): string | null;
    get isAuthenticated(): boolean;
    /** Keep it in memory, and read it anew each time. */
    get accessToken(): string | null;
    /** A user signed in or out, here or in another tab. */
    on(name: 'change', listener: (who: { userId: string | null; session: Session | null }) => void): () => void;
    /** An access token arrived (milliseconds since 1970), or is gone. */
    on(name: 'token', listener: (token: { expiresAt: number } | null) => void): () => void;
    login(credentials: { email: string; password: string; tenant?: string }): Promise<SignedIn>;
    /** Leaves the page for an identity provider, which brings the person back. */
    loginWith(name: string, options?: ProviderLogin): Promise<void>;
    loginWithPasskey(): Promise<SignedIn>;
    registerPasskey(): Promise<void>;
    options(): Promise<SignInOptions>;
    refresh(): Promise<void>;
    /** Ends this session, in all tabs. */
    logout(): Promise<void>;
    /** Ends every session of this person, on every device; this one last. */
    logoutEverywhere(): Promise<void>;
    /** The address of the gateway's sign-in page, which brings the person back. By default to this page. */
    signInURL(returnTo?: string): string;
    /** Leaves the page for the gateway's sign-in page. */
    goToSignIn(returnTo?: string): void;
}

/** The socket of a session by itself, for programs that hold the access token. */
export class RuntimeClient {
    /**
     * @param options `renew`: gets a new token when the one that the socket rests on has expired; without it,
     *   `accessToken` is read again and must have changed.
     */
    constructor(options: {
        baseUrl?: string; accessToken: Given; sessionId: Given; autoReconnect?: boolean; renew?: () => Promise<unknown>;
    });
    get status(): SocketStatus;
    get isOpen(): boolean;
    on<Name extends 'event' | 'socket' | 'sent' | 'refusal'>(name: Name, listener: (value: Events[Name]) => void): () => void;
    /** Rejects with `credentials_missing` while there is no token or no session: nothing is sent then. */
    connect(options?: { resumeFrom?: number }): Promise<void>;
    /** Closes the socket for good. */
    disconnect(): void;
    intent<Data = any>(intent: string, params?: unknown, options?: { id?: string }): Promise<Data>;
    /** Another token or session. The socket there is stays as it is. */
    update(credentials: { accessToken?: Given; sessionId?: Given }): void;
}

/** What a login answers. Browsers get the secret and the refresh token as cookies only. */
export interface LoginAnswer {
    access_token: string;
    token_type: 'Bearer';
    expires_in: number;
    refresh_token?: string;
    session_id: string;
    session_secret?: string;
    session: 'upgraded' | 'created' | 'resumed';
    user_id: string;
    tenant_id: string;
}

export interface Grant {
    id: string;
    client_id: string;
    client_name: string;
    resource: string;
    scopes: string[];
    created_at: string;
    last_used_at: string;
}

/** The gateway's HTTP API: one method for each request. Every refusal is thrown as a {@link Refusal}. */
export class ExperienceClient {
    /**
     * @param options `sessionSecret`: for programs without cookies. `timeout`: of a request, in milliseconds.
     *   `authorized`: sends what takes an access token, such as `gate.fetch`.
     */
    constructor(options?: {
        baseUrl?: string; accessToken?: Given; sessionSecret?: Given; timeout?: number;
        authorized?: (path: string, init: RequestInit) => Promise<Response>;
    });
    createAnonymousSession(options?: { metadata?: Record<string, unknown>; fresh?: boolean }): Promise<Session & { session_secret?: string }>;
    createSession(options?: { metadata?: Record<string, unknown> }): Promise<Session & { session_secret?: string }>;
    currentSession(): Promise<Session>;
    session(id: string): Promise<Session>;
    sessions(): Promise<Session[]>;
    upgradeSession(id: string, options?: { metadata?: Record<string, unknown> }): Promise<Session & { session_secret?: string }>;
    endSession(id: string): Promise<null>;
    /** A ticket for one socket, good for 30 s. */
    mintTicket(id: string): Promise<string>;
    login(credentials: { email: string; password: string; tenant?: string; sessionId?: string }): Promise<LoginAnswer>;
    /** In a browser the refresh token is a cookie, and left out. */
    refresh(refreshToken?: string): Promise<{ access_token: string; token_type: 'Bearer'; expires_in: number; refresh_token?: string }>;
    logout(): Promise<null>;
    me(): Promise<{ user_id: string; tenant_id: string; email: string; scope: string; expires_at: string }>;
    changePassword(passwords: { current: string; next: string }): Promise<null>;
    providers(): Promise<SignInOptions>;
    /** Runs one intent without a socket. */
    intent<Data = any>(sessionId: string, intent: string, params?: unknown, options?: { id?: string }): Promise<Data>;
    grants(): Promise<Grant[]>;
    endGrant(id: string): Promise<null>;
    createToken(wish: { name: string; scopes: string[]; expires_in: number; resource?: string }): Promise<{ token: string; id: string; expires_at: string }>;
    tokens(): Promise<{ id: string; name: string; [more: string]: unknown }[]>;
    endToken(id: string): Promise<null>;
    /** Any request of the API. Rejects for a path of another origin. */
    call(method: string, path: string, options?: {
        body?: unknown; bearer?: boolean; headers?: Record<string, string>; credentials?: RequestCredentials;
    }): Promise<any>;
}

/** What to do when a socket closes: `stop`, `retry` after a while, or `renew` the token first. */
export function afterClose(code: number, reason: string): 'stop' | 'retry' | 'renew';
/** Exponential back-off with jitter, in milliseconds, never above 30 s. */
export function backOff(attempt: number, least?: number, random?: () => number): number;
/** The one `return_to` of a query, as an absolute URL of this origin; null for everything else. */
export function returnTarget(search: string, origin?: string): string | null;
/** Whether passkeys can be used here. */
export function canUsePasskeys(): boolean;
/** The JSON of a good answer; throws a {@link Refusal} for every other. */
export function readAnswer(answer: Response): Promise<any>;
