// The browser library without a browser: node --test Tests/BrowserTests/gatehouse.test.mjs
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
    Gatehouse, Refusal, afterClose, backOff, canUsePasskeys, returnTarget,
} from '../../Sources/Web/Assets/gatehouse.js';

const base = 'http://gate.test';
const session = (state, id = 'ses_one') => ({ session_id: id, state, user_id: state === 'anonymous' ? null : 'usr_1' });

/** A gateway made of answers: `"POST /path"` → body, or [status, body], or a function of the request. */
let answers;
let requests;
let sockets;
const realFetch = globalThis.fetch;

class FakeSocket {
    sent = [];
    constructor(url) {
        this.url = new URL(url);
        sockets.push(this);
    }
    send(text) { this.sent.push(JSON.parse(text)); }
    close(code) { this.closedWith = code; }
    says(frame) { this.onmessage({ data: JSON.stringify(frame) }); }
    isReady(lastSeq, more = {}) { this.says({ type: 'ready', session: {}, last_seq: lastSeq, ...more }); }
}

beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    answers = {};
    requests = [];
    sockets = [];
    globalThis.WebSocket = FakeSocket;
    delete globalThis.BroadcastChannel;
    globalThis.fetch = async (url, init) => {
        const asked = url instanceof Request ? url : null;
        const key = `${init.method ?? asked?.method ?? 'GET'} ${new URL(asked?.url ?? url).pathname}`;
        const sent = init.body ?? (asked ? await asked.text() : undefined);
        const request = { key, token: new Headers(init.headers).get('Authorization'), body: sent };
        requests.push(request);
        let answer = answers[key] ?? [404, { code: 'not_found' }];
        if (typeof answer === 'function') answer = answer(request);
        const [status, body] = Array.isArray(answer) ? answer : [200, answer];
        return new Response(status === 204 ? null : JSON.stringify(body), { status });
    };
});

afterEach(() => {
    globalThis.fetch = realFetch;
    mock.timers.reset();
});

/** Lets everything that is ready to run do so. */
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

async function loggedIn() {
    const gate = new Gatehouse({ base });
    answers['POST /api/session/create-anonymous'] = session('anonymous');
    answers['POST /api/auth/login'] = { access_token: 'a1', expires_in: 900, session: 'upgraded' };
    answers['GET /api/session/current'] = session('authenticated');
    answers['POST /api/session/ses_one/ticket'] = () => ({ ticket: `tkt_${requests.length}` });
    answers['POST /api/auth/refresh'] = () => ({ access_token: `a${requests.length}`, expires_in: 900 });
    await gate.start();
    await gate.login({ email: 'e', password: 'p' });
    return gate;
}

async function connected(gate, lastSeq = 0, options) {
    const opened = gate.connect(options);
    await settle();
    sockets.at(-1).isReady(lastSeq);
    await opened;
    return sockets.at(-1);
}

test('A close code says whether to stop, to retry or to renew', () => {
    assert.equal(afterClose(4401, 'token_expired'), 'renew');
    assert.equal(afterClose(4401, 'token_revoked'), 'stop');
    assert.equal(afterClose(4403, 'session_ended'), 'stop');
    assert.equal(afterClose(4409, 'session_upgraded'), 'retry');
    assert.equal(afterClose(4429, 'rate_limited'), 'retry');
    assert.equal(afterClose(1000, ''), 'stop');
    for (const code of [1001, 1006, 1009, 1013]) assert.equal(afterClose(code, ''), 'retry', String(code));
});

test('Back-off grows, is jittered and never exceeds 30 s', () => {
    assert.equal(backOff(0, 0, () => 0), 250);
    assert.equal(backOff(0, 0, () => 1), 500);
    assert.equal(backOff(50, 0, () => 1), 30_000);
    assert.equal(backOff(0, 7_000), 7_000);
});

test('A login keeps the session id and leaves the tenant out when there is none', async () => {
    const gate = await loggedIn();
    assert.equal(gate.session.session_id, 'ses_one');
    assert.equal(gate.session.state, 'authenticated');
    assert.equal(requests.find(({ key }) => key === 'POST /api/auth/login').body, '{"email":"e","password":"p"}');
});

test('A refusal carries code, reason and request id', async () => {
    const gate = new Gatehouse({ base });
    answers['POST /api/auth/login'] = [401, { code: 'invalid_credentials', title: 't', reason: 'r', request_id: 'q' }];
    await assert.rejects(gate.login({ email: 'e', password: 'p' }), (refusal) => {
        assert.ok(refusal instanceof Refusal);
        const { code, reason, requestID, isPassing } = refusal;
        assert.deepEqual([code, reason, requestID, isPassing], ['invalid_credentials', 'r', 'q', false]);
        return true;
    });
});

test('A reload gets its access token from the cookie, without a body', async () => {
    const gate = new Gatehouse({ base });
    answers['POST /api/session/create-anonymous'] = session('authenticated');
    answers['POST /api/auth/refresh'] = { access_token: 'a1', expires_in: 900 };
    await gate.start();
    assert.equal(gate.accessToken, 'a1');
    assert.equal(requests.find(({ key }) => key === 'POST /api/auth/refresh').body, undefined);
});

test('Any number of refreshes at once are one request', async () => {
    const gate = await loggedIn();
    await Promise.all([gate.refresh(), gate.refresh(), gate.refresh()]);
    assert.equal(requests.filter(({ key }) => key === 'POST /api/auth/refresh').length, 1);
});

test('A token is refreshed before it expires, and again after a passing failure', async () => {
    const gate = await loggedIn();
    const told = [];
    gate.on('refusal', ({ code }) => told.push(code));
    answers['POST /api/auth/refresh'] = [503, { code: 'store_unavailable' }];
    mock.timers.tick(800_000);
    await settle();
    assert.deepEqual(told, ['store_unavailable']);
    assert.equal(gate.accessToken, 'a1');
    answers['POST /api/auth/refresh'] = { access_token: 'a2', expires_in: 900 };
    mock.timers.tick(1_000);
    await settle();
    assert.equal(gate.accessToken, 'a2');
});

test('A refused refresh forgets the token', async () => {
    const gate = await loggedIn();
    answers['POST /api/auth/refresh'] = [401, { code: 'invalid_grant' }];
    mock.timers.tick(800_000);
    await settle();
    assert.equal(gate.authorized, false);
});

test('An expired token is renewed and the request sent again, once', async () => {
    const gate = await loggedIn();
    answers['GET /orders'] = ({ token }) => (token === 'Bearer a1' ? [401, { code: 'token_expired' }] : { ok: true });
    assert.equal((await gate.fetch('/orders')).status, 200);
    answers['GET /orders'] = [401, { code: 'invalid_token' }];
    assert.equal((await gate.fetch('/orders')).status, 401);
    assert.equal(requests.filter(({ key }) => key === 'GET /orders').length, 4);
});

test('The access token never goes to another origin', async () => {
    const gate = await loggedIn();
    await assert.rejects(gate.fetch('https://elsewhere.test/'), TypeError);
    await assert.rejects(gate.fetch('//elsewhere.test/'), TypeError);
});

test('A request object is sent again with its body, and takes its fields along', async () => {
    const gate = await loggedIn();
    answers['PUT /orders'] = ({ token }) => (token === 'Bearer a1' ? [401, { code: 'token_expired' }] : { ok: true });
    const request = new Request(`${base}/orders`, { method: 'PUT', body: 'one', headers: { 'X-Kept': 'yes' } });
    assert.equal((await gate.fetch(request)).status, 200);
    assert.deepEqual(requests.filter(({ key }) => key === 'PUT /orders').map(({ body }) => body), ['one', 'one']);
    await assert.rejects(gate.fetch(new Request('https://elsewhere.test/')), TypeError);
});

test('A body that can be read once is not sent twice', async () => {
    const gate = await loggedIn();
    answers['POST /orders'] = [401, { code: 'token_expired' }];
    const answer = await gate.fetch('/orders', { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' });
    assert.equal(answer.status, 401);
    assert.equal(requests.filter(({ key }) => key === 'POST /orders').length, 1);
});

test('The ways to sign in are asked for without credentials, and a link brings the person back', async () => {
    const gate = await loggedIn();
    const keycloak = { name: 'kc', display_name: 'Keycloak', login_url: '/api/auth/login/kc' };
    answers['GET /api/auth/providers'] = { providers: [keycloak], password: false };
    assert.deepEqual(await gate.signInOptions(), { providers: [keycloak], password: false });
    assert.equal(requests.at(-1).token, null);
    assert.equal(
        gate.loginURL(keycloak, { returnTo: '/orders?a=b#c', max_age: '60' }),
        `${base}/api/auth/login/kc?return_to=%2Forders%3Fa%3Db&max_age=60`);
    // What the gateway refuses in a path is escaped.
    const odd = new URL(gate.loginURL(keycloak, { returnTo: '/a|b?c={d}' }));
    assert.equal(odd.searchParams.get('return_to'), '/a%7Cb?c=%7Bd%7D');
    assert.throws(() => gate.loginURL(keycloak, { returnTo: 'https://elsewhere.test/' }), TypeError);
    assert.throws(() => gate.loginURL({ login_url: 'https://elsewhere.test/' }, { returnTo: '/' }), TypeError);
    await assert.rejects(gate.loginWith('other', { returnTo: '/' }), { code: 'not_found' });
});

/** An authenticator: `ask` gets the options, and returns the credential or throws. */
function withAuthenticator(ask, job) {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    globalThis.PublicKeyCredential = class {};
    const credentials = { create: async (options) => ask('create', options), get: async (options) => ask('get', options) };
    Object.defineProperty(globalThis, 'navigator', { value: { credentials }, configurable: true });
    return Promise.resolve(job()).finally(() => {
        delete globalThis.PublicKeyCredential;
        if (before) Object.defineProperty(globalThis, 'navigator', before);
        else delete globalThis.navigator;
    });
}
const buffer = (...values) => Uint8Array.from(values).buffer;

test('A passkey signs in: bytes for the authenticator, base64url for the gateway', async () => {
    const gate = new Gatehouse({ base });
    answers['POST /api/session/create-anonymous'] = session('anonymous');
    answers['GET /api/session/current'] = session('authenticated');
    answers['POST /api/auth/passkey/login/begin'] = { challenge: '-_8A', rpId: 'gate.test', allowCredentials: [] };
    answers['POST /api/auth/passkey/login/finish'] = { access_token: 'a1', expires_in: 900, session: 'upgraded' };
    await gate.start();
    assert.equal(canUsePasskeys(), false);
    await assert.rejects(gate.loginWithPasskey(), { code: 'passkeys_unsupported' });
    await withAuthenticator((way, { publicKey }) => {
        assert.equal(way, 'get');
        assert.deepEqual([...publicKey.challenge], [0xfb, 0xff, 0x00]);
        return {
            rawId: buffer(1, 2), type: 'public-key',
            response: {
                clientDataJSON: buffer(3), authenticatorData: buffer(4), signature: buffer(0xfb, 0xff), userHandle: buffer(6),
            },
        };
    }, async () => {
        assert.equal((await gate.loginWithPasskey()).how, 'upgraded');
    });
    assert.equal(gate.accessToken, 'a1');
    assert.deepEqual(JSON.parse(requests.find(({ key }) => key.endsWith('login/finish')).body), {
        id: 'AQI', rawId: 'AQI', type: 'public-key', clientExtensionResults: {},
        response: { clientDataJSON: 'Aw', authenticatorData: 'BA', signature: '-_8', userHandle: 'Bg' },
    });
});

test('A passkey is registered with its public key, as the person who is signed in', async () => {
    const gate = await loggedIn();
    answers['POST /api/auth/passkey/register/begin'] = {
        challenge: 'AAE', user: { id: 'dXNy', name: 'a' }, excludeCredentials: [{ type: 'public-key', id: 'AQI' }],
    };
    answers['POST /api/auth/passkey/register/finish'] = [201, { id: 'AQI' }];
    await withAuthenticator((way, { publicKey }) => {
        assert.equal(way, 'create');
        assert.deepEqual([...publicKey.user.id], [117, 115, 114]);
        assert.deepEqual([...publicKey.excludeCredentials[0].id], [1, 2]);
        return {
            rawId: buffer(1), type: 'public-key',
            response: {
                clientDataJSON: buffer(2), attestationObject: buffer(3), getAuthenticatorData: () => buffer(4),
                getPublicKey: () => buffer(5), getPublicKeyAlgorithm: () => -7, getTransports: () => ['internal'],
            },
        };
    }, () => gate.registerPasskey());
    const finish = requests.find(({ key }) => key.endsWith('register/finish'));
    assert.equal(finish.token, 'Bearer a1');
    assert.deepEqual(JSON.parse(finish.body).response, {
        clientDataJSON: 'Ag', attestationObject: 'Aw', authenticatorData: 'BA', publicKey: 'BQ',
        publicKeyAlgorithm: -7, transports: ['internal'],
    });
});

test('A cancelled passkey is a refusal with a code', async () => {
    const gate = await loggedIn();
    answers['POST /api/auth/passkey/login/begin'] = { challenge: 'AAE' };
    const fails = (name) => withAuthenticator(
        () => { throw Object.assign(new Error('no'), { name }); }, () => gate.loginWithPasskey());
    await assert.rejects(fails('NotAllowedError'), { code: 'passkey_declined' });
    await assert.rejects(fails('SecurityError'), { code: 'passkeys_unsupported' });
});

test('A socket opens with a ticket and no token in its URL', async () => {
    const gate = await loggedIn();
    const socket = await connected(gate, 0, { resumeFrom: 0 });
    assert.deepEqual([...socket.url.searchParams.keys()], ['ticket', 'resume_from']);
    assert.equal(socket.url.protocol, 'ws:');
});

test('An intent that was cut off goes out again under its id, after the replay', async () => {
    const gate = await loggedIn();
    const first = await connected(gate);
    const answered = gate.intent('echo', { n: 1 }, { id: 'c1' });
    const unanswered = gate.intent('echo', { n: 2 }, { id: 'c2' });
    first.onclose({ code: 1001, reason: 'draining' });
    mock.timers.tick(30_000);
    await settle();
    const second = sockets.at(-1);
    assert.notEqual(second, first);
    assert.equal(second.url.searchParams.get('resume_from'), '0');
    second.isReady(1);
    assert.deepEqual(second.sent, [], 'nothing goes out before the replay is through');
    second.says({ type: 'event', seq: 1, id: 'c1', event: 'result', data: { n: 1 } });
    assert.deepEqual(second.sent.map(({ id }) => id), ['c2']);
    second.says({ type: 'event', seq: 2, id: 'c2', event: 'error', error: { code: 'not_found', message: 'm' } });
    assert.deepEqual(await answered, { n: 1 });
    await assert.rejects(unanswered, { code: 'not_found' });
});

test('An intent goes out once a socket, whatever else arrives', async () => {
    const gate = await loggedIn();
    const socket = await connected(gate);
    gate.intent('echo', {}, { id: 'c1' });
    gate.intent('echo', {}, { id: 'c2' });
    socket.says({ type: 'event', seq: 1, id: 'c1', event: 'result', data: {} });
    socket.says({ type: 'event', seq: 2, id: 'other', event: 'result', data: {} });
    assert.deepEqual(socket.sent.map(({ id }) => id), ['c1', 'c2']);
});

test('An event that was seen before is not told twice', async () => {
    const gate = await loggedIn();
    const seen = [];
    gate.on('event', (frame) => frame.type === 'event' && seen.push(frame.seq));
    const socket = await connected(gate, 4);
    for (const seq of [5, 5, 4, 6]) socket.says({ type: 'event', seq, id: `x${seq}`, event: 'result', data: {} });
    assert.deepEqual(seen, [5, 6]);
});

test('A message that was too big is not sent again', async () => {
    const gate = await loggedIn();
    const socket = await connected(gate);
    const intent = gate.intent('echo', { big: 'x' });
    socket.onclose({ code: 1009, reason: '' });
    await assert.rejects(intent, { code: 'too_big' });
});

test('An expired socket renews the token and comes back; an ended session stays closed', async () => {
    const gate = await loggedIn();
    const first = await connected(gate);
    first.onclose({ code: 4401, reason: 'token_expired' });
    await settle();
    assert.equal(sockets.length, 2);
    assert.equal(requests.filter(({ key }) => key === 'POST /api/auth/refresh').length, 1);
    sockets[1].isReady(0);
    sockets[1].onclose({ code: 4403, reason: 'session_ended' });
    await settle();
    assert.equal(sockets.length, 2);
    assert.equal(gate.socket.state, 'closed');
});

test('A refused ticket rejects connect with the refusal', async () => {
    const gate = await loggedIn();
    answers['POST /api/session/ses_one/ticket'] = [403, { code: 'session_mismatch' }];
    await assert.rejects(gate.connect(), { code: 'session_mismatch' });
});

test('Logout forgets token and session', async () => {
    const gate = await loggedIn();
    answers['POST /api/auth/logout'] = [204];
    await gate.logout();
    assert.equal(gate.accessToken, null);
    assert.equal(gate.session, null);
});

test('A logout whose token is refused is proved by the cookies, without a refresh', async () => {
    const gate = await loggedIn();
    answers['POST /api/auth/logout'] = ({ token }) => (token ? [401, { code: 'no_logout_proof' }] : [204]);
    await gate.logout();
    assert.equal(gate.session, null);
    const asked = requests.filter(({ key }) => key.startsWith('POST /api/auth/') && !key.endsWith('/login'));
    assert.deepEqual(asked.map(({ key, token }) => [key, token]), [
        ['POST /api/auth/logout', 'Bearer a1'], ['POST /api/auth/logout', null],
    ]);
});

test('An outage past the end of a token costs a socket time, and no more', async () => {
    const gate = await loggedIn();
    const socket = await connected(gate);
    const refreshed = answers['POST /api/auth/refresh'];
    answers['POST /api/auth/refresh'] = [503, { code: 'overloaded' }];
    answers['POST /api/session/ses_one/ticket'] = ({ token }) =>
        (token === 'Bearer a1' ? [401, { code: 'token_expired' }] : { ticket: 'tkt_new' });
    socket.onclose({ code: 4401, reason: 'token_expired' });
    for (let round = 0; round < 3; round += 1) {
        await settle();
        mock.timers.tick(30_000);
    }
    await settle();
    assert.equal(sockets.length, 1);
    answers['POST /api/auth/refresh'] = refreshed;
    mock.timers.tick(60_000);
    await settle();
    assert.equal(sockets.length, 2);
    assert.match(sockets[1].url.search, /tkt_new/);
});

test('Nothing is stored', async () => {
    const source = await import('node:fs/promises').then((fs) =>
        fs.readFile(new URL('../../Sources/Web/Assets/gatehouse.js', import.meta.url), 'utf8'));
    for (const store of ['localStorage', 'sessionStorage', 'indexedDB', 'document.cookie', 'caches.']) {
        assert.ok(!source.includes(store), store);
    }
});

test('return_to leads back to a path of this origin, and nowhere else', () => {
    const asked = (wish) => returnTarget(`?return_to=${encodeURIComponent(wish)}`, base);
    for (const [wish, path] of [
        ['/orders/7', '/orders/7'], ['/orders?a=b&c=%2F#d', '/orders?a=b&c=%2F#d'], ['/', '/'],
        ['/caf%C3%A9?q=//evil.example', '/caf%C3%A9?q=//evil.example'], ['/a/../b', '/b'], ['/a//b', '/a//b'],
        ['/%2Fevil.example', '/%2Fevil.example'], ['/@evil.example', '/@evil.example'],
        ["/o'brien?x='1'", "/o'brien?x=%271%27"],
    ]) assert.equal(asked(wish), base + path, wish);
    for (const wish of [
        '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example', '/\n/evil.example',
        '\t//evil.example', ' //evil.example', '/ /evil.example', '/.//evil.example/login', '/..//evil.example',
        '/%2e//evil.example', '/%2E%2e//evil.example', '/a/..//evil.example', '/./\\evil.example', '/a\\b', '/\0',
        'https://evil.example/', 'http:evil.example', 'javascript:alert(1)', 'data:text/html,x', 'orders', '?a', '#a', '',
        '%2F%2Fevil.example', `${base}/orders`, '@evil.example',
    ]) assert.equal(asked(wish), null, JSON.stringify(wish));
    assert.equal(returnTarget('', base), null);
    assert.equal(returnTarget('?return_to=/a&return_to=//evil.example', base), null);
    // What comes back is absolute: nothing is left that could be read in another way.
    assert.equal(returnTarget('?return_to=%2Forders%3Fa%3Db', base), `${base}/orders?a=b`);
});
