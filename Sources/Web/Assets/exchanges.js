// @ts-check
/**
 * What the page at `/` sends and gets, shown beside the step that it belongs to: the request, the answer, and what the
 * gateway checked in between. Secrets are cut to their first 8 characters.
 */

/**
 * @typedef {object} Exchange
 * @property {string} step      `session`, `login`, `socket` or `break`: where it is shown.
 * @property {string} method
 * @property {string} path      With its query, secrets cut.
 * @property {string[]} sent    Lines of the request.
 * @property {string} status    Of the answer, in words.
 * @property {boolean} isRefused
 * @property {string[]} got     Lines of the answer.
 * @property {string[]} checks  What was checked, in order.
 */

/** How many are kept for a step. */
const MOST = 5;

const LEASE = 'From now on its lease is checked: expiry, revocation, logout and upgrade close it within a second.';
const SOCKET = [
    'It is a WebSocket handshake, and its Origin may open one.', 'No credential comes twice, and none as another kind.',
    'The ticket is known, unused, in time, and of this Origin.',
    'The session is alive and belongs to the tenant and user of the token that the ticket was made with.', LEASE,
];
const CALLER = [
    'Exactly one access token, and it looks like one.',
    'Its signature, issuer, audience, type and times; that it has not been revoked.',
];
const SAME_SITE = 'The request comes from a page of this origin (Origin, Sec-Fetch-Site).';

/** What is checked, by method and path; the first that fits. @type {[RegExp, string, string[]][]} */
const CHECKS = [
    [/^POST \/api\/session\/create-anonymous$/, 'session', [
        SAME_SITE, 'The address has not asked for too many.',
        'Traffic Cop’s contract for a new session: its type, its fields, its time, its MAC, and that it is used once.',
        'The cookie, if there is one: a live session is answered again, and no second one is made.',
    ]],
    [/^GET \/api\/session\/current$/, 'session', ['The session secret of the cookie opens a live session.']],
    [/^POST \/api\/auth\/logout$/, 'session', [
        SAME_SITE, 'The access token, the session secret or the refresh token proves whose session it is.',
        'Session, login and tokens end before the answer; sockets close with 4403.',
    ]],
    [/^POST \/api\/auth\/login$/, 'login', [
        SAME_SITE, 'Neither the address nor the account has tried too often.',
        'The password, by scrypt; an unknown account costs as much time as a known one.',
        'The session secret: the session that gets an owner is this browser’s own, and has none yet.',
        'One compare-and-set gives it its owner, and the secret is replaced.',
    ]],
    [/^POST \/api\/auth\/refresh$/, 'login', [
        SAME_SITE, 'The refresh token of the cookie is known, unused, and of a login that still lasts.',
        'A second use of it ends the login, for one of the two users is a thief.',
        'The sockets of this login are extended to the new expiry.',
    ]],
    [/^POST \/api\/auth\/passkey\//, 'login', [
        SAME_SITE, 'The challenge was made here, for this session, and is used once.',
        'The origin and relying party that the authenticator signed, and that the person was there.',
        'The signature, by the key that was registered, and its counter.',
    ]],
    [/^POST \/api\/session\/[^/]+\/ticket$/, 'socket', [
        ...CALLER, 'The session belongs to the tenant and user of the token.',
        'The ticket is good for one socket, for 30 s, from this Origin.',
    ]],
    [/^POST \/api\/intent$/, 'break', [
        'No credential comes twice, and none as another kind.', ...CALLER,
        'The session is alive and belongs to the tenant and user of the token. Unknown and foreign look the same.',
    ]],
];

/** Answer fields that say something. */
const FIELDS = ['www-authenticate', 'retry-after', 'x-request-id'];
/** Members whose values open something. */
const SECRETS = /^(access_token|refresh_token|ticket|session_secret|token)$/;
/** Members that are not even begun. */
const HIDDEN = /^(password|current|new)$/;

/** @param {string} text */
function cut(text) { return text.length > 9 ? `${text.slice(0, 8)}…` : text; }

/** What looks like a token, a ticket or a secret, wherever it stands: an attempt may send one as something else. */
const SECRET = /\b(?:eyJ|ref_|sec_|tkt_|pat_)[\w.-]+/g;

/** JSON with its secrets cut. @param {string} text */
export function redacted(text) {
    let value;
    try { value = JSON.parse(text); } catch { return text.slice(0, 500).replace(SECRET, cut); }
    return JSON.stringify(value, (key, member) => {
        if (typeof member !== 'string') return member;
        if (HIDDEN.test(key)) return '…';
        return SECRETS.test(key) ? cut(member) : member.replace(SECRET, cut);
    }, 2);
}

/** @param {URL} url */
function redactedPath(url) {
    const query = new URLSearchParams(url.search);
    for (const [name, value] of query) if (SECRETS.test(name)) query.set(name, cut(value));
    const rest = query.toString().replaceAll('%E2%80%A6', '…');
    return url.pathname + (rest ? `?${rest}` : '');
}

/**
 * What is known of a request before it is sent; null for what belongs to no step.
 * @param {URL} url @param {RequestInit} init @returns {Exchange|null}
 */
export function describe(url, init) {
    const method = init.method ?? 'GET';
    const found = CHECKS.find(([pattern]) => pattern.test(`${method} ${url.pathname}`));
    if (!found) return null;
    const sent = [...new Headers(init.headers)].map(([name, value]) => {
        const bearer = /^Bearer (.*)$/.exec(value);
        return `${name}: ${bearer ? `Bearer ${cut(bearer[1])}` : value.replace(SECRET, cut)}`;
    });
    // What scripts cannot read the browser adds.
    sent.push(init.credentials === 'omit' ? '(without cookies)' : '(and the HttpOnly cookies that this page cannot read)');
    if (typeof init.body === 'string') sent.push('', redacted(init.body));
    const step = init.credentials === 'omit' ? 'break' : found[1];
    return {
        step, method, path: redactedPath(url), sent, status: 'no answer', isRefused: true, got: [], checks: found[2],
    };
}

/**
 * Watches what the page sends from now on. @param {(exchange: Exchange) => void} tell
 */
export function watch(tell) {
    const { fetch: send, WebSocket: Socket } = globalThis;
    globalThis.fetch = async (input, init = {}) => {
        const exchange = input instanceof Request ? null : describe(new URL(String(input), location.href), init);
        if (!exchange) return send(input, init);
        try {
            const answer = await send(input, init);
            exchange.status = `${answer.status} ${answer.statusText}`.trim();
            exchange.isRefused = !answer.ok;
            exchange.got = FIELDS.filter((name) => answer.headers.has(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
            const text = await answer.clone().text();
            if (text) exchange.got.push('', redacted(text));
            return answer;
        } finally {
            tell(exchange);
        }
    };
    globalThis.WebSocket = class extends Socket {
        /** @param {string|URL} url @param {string|string[]} [protocols] */
        constructor(url, protocols) {
            super(url, protocols);
            /** @type {Exchange} */
            const exchange = {
                step: protocols ? 'break' : 'socket', method: 'GET', path: redactedPath(new URL(url, location.href)),
                sent: ['Upgrade: websocket'], status: 'refused', isRefused: true, checks: SOCKET,
                got: ['(A browser does not tell its scripts why an upgrade was refused.)'],
            };
            const offers = [protocols ?? []].flat().map((offer) => offer.replace(/^(bearer|session)\.(.{8}).*$/, '$1.$2…'));
            if (offers.length > 0) exchange.sent.push(`Sec-WebSocket-Protocol: ${offers.join(', ')}`);
            let isTold = false;
            const once = () => { if (!isTold) tell(exchange); isTold = true; };
            this.addEventListener('open', () => {
                Object.assign(exchange, { status: '101 Switching Protocols', isRefused: false, got: [] });
                once();
            });
            this.addEventListener('close', once);
        }
    };
}

/** @param {string} tag @param {string} className @param {...(Node|string)} children */
export function make(tag, className, ...children) {
    const element = document.createElement(tag);
    element.className = className;
    element.append(...children);
    return element;
}

/** Shows an exchange in the list of its step, newest first, which is open where there is room. @param {Exchange} exchange */
export function show(exchange) {
    const list = document.getElementById(`exchanges-${exchange.step}`);
    if (!list) return;
    const status = make('span', 'badge', exchange.status);
    status.dataset.tone = exchange.isRefused ? 'bad' : 'good';
    const { pathname } = new URL(exchange.path, location.href);
    const details = /** @type {HTMLDetailsElement} */ (make('details', '',
        make('summary', '', make('code', '', `${exchange.method} ${pathname}`), ' ', status),
        make('h4', '', 'Request'), make('pre', '', `${exchange.method} ${exchange.path}\n${exchange.sent.join('\n')}`),
        make('h4', '', 'Checked'), make('ul', '', ...exchange.checks.map((check) => make('li', '', check))),
        make('h4', '', 'Answer'), make('pre', '', [exchange.status, ...exchange.got].join('\n'))));
    for (const other of list.querySelectorAll('details')) other.open = false;
    details.open = matchMedia('(min-width: 56rem)').matches;
    list.prepend(make('li', '', details));
    while (list.children.length > MOST) list.lastElementChild?.remove();
    const heading = document.getElementById(`exchanges-${exchange.step}-title`);
    if (heading) heading.hidden = false;
}
