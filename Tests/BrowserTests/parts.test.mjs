// The parts of the browser library, and what comes back that no gateway says: node --test Tests/BrowserTests/parts.test.mjs
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
    Auth, ExperienceClient, Gatehouse, PlatformState, Refusal, RuntimeClient, afterClose,
} from '../../Sources/Web/Assets/gatehouse.js';

const base = 'http://gate.test';
const anonymous = { session_id: 'ses_one', state: 'anonymous', user_id: null };
const owned = { session_id: 'ses_one', state: 'authenticated', user_id: 'usr_1' };

/** `"POST /path"` → JSON, [status, JSON], a `Response`, an `Error`, or a function of the request that returns one. */
let answers;
let requests;
let sockets;
/** What the browser tells its pages, such as `online`. */
let events;
const realFetch = globalThis.fetch;

class FakeSocket {
    sent = [];
    constructor(url) { this.url = new URL(url); sockets.push(this); }
    send(text) { this.sent.push(JSON.parse(text)); }
    close(code) { this.closedWith = code; }
    says(frame) { this.onmessage({ data: JSON.stringify(frame) }); }
}

/** @param {boolean} value */
const setOnline = (value) =>
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: value }, configurable: true });
const happens = (name) => { for (const listener of events.get(name) ?? []) listener(); };
const asked = (key) => requests.filter((request) => request.key === key);
const settle = async () => { for (let turn = 0; turn < 30; turn += 1) await new Promise(setImmediate); };
const page = (status = 200) => new Response('<!doctype html><title>Wi-Fi</title>', { status });

beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 });
    answers = {
        'POST /api/session/create-anonymous': anonymous,
        'GET /api/session/current': owned,
        'POST /api/auth/login': { access_token: 'a1', expires_in: 900, session: 'upgraded' },
        'POST /api/auth/refresh': () => ({ access_token: `a${requests.length}`, expires_in: 900 }),
        'POST /api/session/ses_one/ticket': { ticket: 'tkt_1' },
        'POST /api/auth/logout': [204],
    };
    [requests, sockets, events] = [[], [], new Map()];
    globalThis.WebSocket = FakeSocket;
    globalThis.addEventListener = (name, listener) => events.set(name, [...(events.get(name) ?? []), listener]);
    delete globalThis.BroadcastChannel;
    setOnline(true);
    globalThis.fetch = async (url, init) => {
        const { pathname } = new URL(url);
        const headers = new Headers(init.headers);
        const request = {
            key: `${init.method ?? 'GET'} ${pathname}`, token: headers.get('Authorization'),
            secret: headers.get('Session-Secret'), session: headers.get('Session-Id'), body: init.body,
        };
        requests.push(request);
        let answer = answers[request.key] ?? [404, { code: 'not_found' }];
        if (typeof answer === 'function') answer = await answer(request);
        if (answer instanceof Error) throw answer;
        if (answer instanceof Response) return answer;
        const [status, body] = Array.isArray(answer) ? answer : [200, answer];
        return new Response(body === undefined ? null : JSON.stringify(body), { status });
    };
});

afterEach(() => {
    globalThis.fetch = realFetch;
    delete globalThis.addEventListener;
    delete globalThis.navigator;
    mock.timers.reset();
});

async function loggedIn() {
    const gate = new Gatehouse({ base });
    await gate.start();
    await gate.login({ email: 'e', password: 'p' });
    return gate;
}

async function connected(gate) {
    const opened = gate.connect();
    await settle();
    sockets.at(-1).says({ type: 'ready', session: {}, last_seq: 0 });
    await opened;
    return sockets.at(-1);
}

// MARK: PlatformState

test('A platform has a session on load, and makes another when it has ended', async () => {
    const platform = new PlatformState({ baseUrl: base, metadata: { cart: 7 } });
    const told = [];
    platform.on('session', ({ session_id: id }) => told.push(id));
    platform.on('ended', () => told.push('ended'));
    mock.timers.tick(0);
    assert.equal((await platform.ready).session_id, 'ses_one');
    assert.deepEqual(JSON.parse(requests[0].body), { metadata: { cart: 7 } });
    answers['POST /api/session/create-anonymous'] = { ...anonymous, session_id: 'ses_two' };
    await platform.gate.logout();
    assert.equal(platform.sessionId, null);
    mock.timers.tick(30_000);
    await settle();
    assert.equal(platform.sessionId, 'ses_two');
    assert.deepEqual(told, ['ses_one', 'ended', 'ses_two']);
    platform.close();
    await platform.gate.logout();
    mock.timers.tick(120_000);
    await settle();
    assert.equal(asked('POST /api/session/create-anonymous').length, 2, 'a closed platform makes none');
});

test('A platform waits for a gateway that is away, with growing pauses, and makes no attempt while offline', async () => {
    answers['POST /api/session/create-anonymous'] = new Error('refused');
    const platform = new PlatformState({ baseUrl: base });
    const told = [];
    platform.on('refusal', ({ code }) => told.push(code));
    for (let minute = 0; minute < 600; minute += 1) { mock.timers.tick(1_000); await settle(); }
    // 0.25 s to 0.5 s at first, 15 s to 30 s in the end.
    assert.ok(told.length >= 20 && told.length <= 60, String(told.length));
    assert.ok(told.every((code) => code === 'unreachable'));
    setOnline(false);
    mock.timers.tick(60_000);
    await settle();
    const before = requests.length;
    mock.timers.tick(3_600_000);
    await settle();
    assert.equal(requests.length, before, 'an attempt was made while offline');
    setOnline(true);
    answers['POST /api/session/create-anonymous'] = anonymous;
    happens('online');
    mock.timers.tick(0);
    assert.equal((await platform.ready).session_id, 'ses_one');
});

test('A session that always ends at once does not become a loop', async () => {
    const platform = new PlatformState({ baseUrl: base });
    mock.timers.tick(0);
    await platform.ready;
    for (let second = 0; second < 300; second += 1) {
        if (platform.session) await platform.gate.logout();
        mock.timers.tick(1_000);
        await settle();
    }
    const count = asked('POST /api/session/create-anonymous').length;
    assert.ok(count < 30, `${count} sessions in five minutes`);
});

// MARK: Auth

test('Who is signed in is told once for each change, and a sign-in comes back to this origin alone', async () => {
    globalThis.location = new URL('/orders?a=b', base);
    const gate = new Gatehouse({ base });
    const auth = new Auth(gate);
    const told = [];
    auth.on('change', ({ userId }) => told.push(userId));
    await gate.start();
    await auth.login({ email: 'e', password: 'p' });
    await gate.current();
    assert.equal(auth.userId, 'usr_1');
    assert.equal(auth.signInURL(), `${base}/.gatehouse/sign-in?return_to=%2Forders%3Fa%3Db`);
    assert.throws(() => auth.signInURL('https://elsewhere.test/'), TypeError);
    assert.throws(() => auth.signInURL('//elsewhere.test/'), TypeError);
    await auth.logout();
    assert.deepEqual(told, ['usr_1', null]);
    delete globalThis.location;
});

test('Logging out everywhere ends the other sessions first, and this one last', async () => {
    const gate = await loggedIn();
    answers['GET /api/session'] = { sessions: [owned, { session_id: 'ses_two' }, { session_id: 'ses_three' }] };
    answers['DELETE /api/session/ses_two'] = [204];
    answers['DELETE /api/session/ses_three'] = [410, { code: 'session_ended' }];
    await new Auth(gate).logoutEverywhere();
    assert.deepEqual(requests.slice(-4).map(({ key }) => key), [
        'GET /api/session', 'DELETE /api/session/ses_two', 'DELETE /api/session/ses_three', 'POST /api/auth/logout',
    ]);
    assert.equal(gate.session, null);
});

// MARK: RuntimeClient

test('A runtime client does not connect before it may, and sends no request', async () => {
    for (const credentials of [{ accessToken: null, sessionId: 'ses_one' }, { accessToken: 'a', sessionId: () => null }]) {
        const runtime = new RuntimeClient({ baseUrl: base, ...credentials });
        await assert.rejects(runtime.connect(), { code: 'credentials_missing' });
        assert.equal(runtime.status.state, 'closed');
    }
    const gate = new Gatehouse({ base });
    await gate.start();
    await assert.rejects(gate.connect(), { code: 'credentials_missing' });
    mock.timers.tick(600_000);
    await settle();
    assert.deepEqual([sockets.length, requests.length], [0, 1], 'only the session was asked for');
});

test('A runtime client connects with a ticket, and resumes; without autoReconnect it stays closed', async () => {
    const runtime = new RuntimeClient({ baseUrl: base, accessToken: 'a1', sessionId: 'ses_one' });
    const seen = [];
    runtime.on('event', (frame) => frame.type === 'event' && seen.push(frame.seq));
    const opened = runtime.connect();
    await settle();
    assert.deepEqual([...sockets[0].url.searchParams.keys()], ['ticket']);
    assert.equal(asked('POST /api/session/ses_one/ticket')[0].token, 'Bearer a1');
    sockets[0].says({ type: 'ready', session: {}, last_seq: 3 });
    await opened;
    sockets[0].says({ type: 'event', seq: 4, id: 'x', event: 'result', data: 1 });
    sockets[0].onclose({ code: 1006, reason: '' });
    mock.timers.tick(30_000);
    await settle();
    assert.equal(sockets[1].url.searchParams.get('resume_from'), '4');
    sockets[1].says({ type: 'ready', session: {}, last_seq: 5 });
    sockets[1].says({ type: 'event', seq: 4, id: 'x', event: 'result', data: 1 });
    sockets[1].says({ type: 'event', seq: 5, id: 'y', event: 'result', data: 2 });
    assert.deepEqual(seen, [4, 5], 'nothing lost, nothing doubled');

    const once = new RuntimeClient({ baseUrl: base, accessToken: 'a1', sessionId: 'ses_one', autoReconnect: false });
    const open = once.connect();
    await settle();
    sockets[2].says({ type: 'ready', session: {}, last_seq: 0 });
    await open;
    sockets[2].onclose({ code: 1001, reason: '' });
    mock.timers.tick(600_000);
    await settle();
    assert.deepEqual([sockets.length, once.status.state, once.status.code], [3, 'closed', 1001]);
});

test('An expired token is asked for again, and a socket without a newer one stays closed', async () => {
    let token = 'a1';
    let renewals = 0;
    const renew = async () => { renewals += 1; if (renewals === 1) token = 'a2'; };
    const runtime = new RuntimeClient({ baseUrl: base, accessToken: () => token, sessionId: 'ses_one', renew });
    const opened = runtime.connect();
    await settle();
    sockets[0].says({ type: 'ready', session: {}, last_seq: 0 });
    await opened;
    sockets[0].onclose({ code: 4401, reason: 'token_expired' });
    await settle();
    assert.equal(asked('POST /api/session/ses_one/ticket').at(-1).token, 'Bearer a2');
    sockets[1].says({ type: 'ready', session: {}, last_seq: 0 });
    sockets[1].onclose({ code: 4401, reason: 'token_expired' });
    mock.timers.tick(30_000);
    await settle();
    assert.deepEqual([renewals, sockets.length, runtime.status.state], [2, 2, 'closed']);
});

/** Close codes and reasons, and whether a socket comes back, by itself or after a refresh. */
const CLOSINGS = [
    [1000, '', 'stop'], [1001, '', 'retry'], [1002, '', 'stop'], [1003, '', 'stop'], [1005, '', 'retry'],
    [1006, '', 'retry'], [1007, '', 'stop'], [1008, '', 'stop'], [1009, '', 'retry'], [1011, '', 'retry'],
    [1012, '', 'retry'], [1013, '', 'retry'], [3000, '', 'stop'], [4000, '', 'stop'], [4400, 'invalid_request', 'stop'],
    [4401, 'token_expired', 'renew'], [4401, 'invalid_token', 'renew'], [4401, 'token_revoked', 'stop'],
    [4401, 'credentials_missing', 'stop'], [4403, 'session_ended', 'stop'], [4403, 'session_mismatch', 'stop'],
    [4409, 'session_upgraded', 'retry'], [4429, 'rate_limited', 'retry'], [4503, 'store_unavailable', 'retry'],
];

for (const [code, reason, next] of CLOSINGS) {
    test(`A socket closed with ${code} ${reason} leads to: ${next}`, async () => {
        assert.equal(afterClose(code, reason), next);
        const gate = await loggedIn();
        const socket = await connected(gate);
        const refreshes = asked('POST /api/auth/refresh').length;
        socket.onclose({ code, reason });
        await settle();
        for (let turn = 0; turn < 5; turn += 1) { mock.timers.tick(8_000); await settle(); }
        assert.equal(asked('POST /api/auth/refresh').length - refreshes, next === 'renew' ? 1 : 0);
        assert.equal(sockets.length > 1, next !== 'stop', 'came back');
        if (next === 'stop') assert.equal(gate.socket.state, 'closed');
    });
}

for (const [code, reason] of [[4401, 'token_expired'], [1006, ''], [1011, ''], [1013, ''], [4409, 'session_upgraded']]) {
    test(`A socket that closes with ${code} as soon as it is ready comes back ever more rarely, and fast again once it stays`, async () => {
        const gate = await loggedIn();
        await connected(gate);
        const before = requests.length;
        for (let second = 0; second < 300; second += 1) {
            const socket = sockets.at(-1);
            if (socket.closedHere) { mock.timers.tick(1_000); await settle(); continue; }
            socket.closedHere = true;
            socket.says({ type: 'ready', session: {}, last_seq: 0 });
            socket.onclose({ code, reason });
            mock.timers.tick(1_000);
            await settle();
        }
        assert.ok(sockets.length > 5 && sockets.length < 40, `${sockets.length} sockets in five minutes`);
        assert.ok(requests.length - before < 80, `${requests.length - before} requests in five minutes`);
        // The next one, before it is given up for saying nothing.
        for (let second = 0; second < 60 && sockets.at(-1).closedHere; second += 1) { mock.timers.tick(1_000); await settle(); }
        const opened = sockets.length;
        sockets.at(-1).says({ type: 'ready', session: {}, last_seq: 0 });
        mock.timers.tick(10_000);
        sockets.at(-1).onclose({ code: 1006, reason: '' });
        mock.timers.tick(500);
        await settle();
        assert.equal(sockets.length, opened + 1);
    });
}

for (const order of ['before', 'after']) {
    test(`A new login of the same session revokes the old one’s token: its socket comes back, told ${order} the answer`, async () => {
        const gate = await loggedIn();
        const socket = await connected(gate);
        socket.says({ type: 'event', seq: 3, id: 'x', event: 'result', data: 1 });
        answers['POST /api/auth/login'] = { access_token: 'b1', expires_in: 900, session: 'resumed' };
        const closes = () => socket.onclose({ code: 4401, reason: 'token_revoked' });
        if (order === 'before') closes();
        await gate.login({ email: 'e', password: 'p' });
        if (order === 'after') closes();
        mock.timers.tick(500);
        await settle();
        assert.equal(asked('POST /api/session/ses_one/ticket').at(-1).token, 'Bearer b1');
        assert.equal(sockets.at(-1).url.searchParams.get('resume_from'), '3');
        // Closed by the page, it stays closed.
        gate.disconnect();
        await gate.refresh();
        await settle();
        assert.deepEqual([sockets.length, gate.socket.state], [2, 'closed']);
    });
}

test('What one session’s socket was to say is not said on the next one’s', async () => {
    const gate = await loggedIn();
    const first = await connected(gate);
    first.says({ type: 'event', seq: 1, id: 'x', event: 'result', data: 1 });
    const unanswered = gate.intent('artifact.put', { mine: true });
    answers['POST /api/auth/login'] = { access_token: 'b1', expires_in: 900, session: 'created' };
    answers['GET /api/session/current'] = { ...owned, session_id: 'ses_two', user_id: 'usr_2' };
    answers['POST /api/session/ses_two/ticket'] = { ticket: 'tkt_2' };
    await gate.login({ email: 'f', password: 'p' });
    const seen = [];
    gate.on('event', (frame) => seen.push(frame));
    first.says({ type: 'event', seq: 7, id: 'y', event: 'result', data: 'of the other person' });
    const opened = gate.connect();
    await assert.rejects(unanswered, { code: 'closed_here' });
    await settle();
    const second = sockets.at(-1);
    assert.deepEqual([...second.url.searchParams], [['ticket', 'tkt_2']]);
    second.says({ type: 'ready', session: {}, last_seq: 0 });
    await opened;
    assert.deepEqual([second.sent, seen.map(({ type }) => type)], [[], ['ready']]);
});

test('An intent that cannot be written is refused by itself, and one sent twice under an id is one', async () => {
    const gate = await loggedIn();
    const socket = await connected(gate);
    const circle = {};
    circle.circle = circle;
    await assert.rejects(gate.intent('echo', circle), TypeError);
    const both = [gate.intent('echo', { n: 1 }, { id: 'c1' }), gate.intent('echo', { n: 1 }, { id: 'c1' })];
    assert.deepEqual(socket.sent.map(({ id }) => id), ['c1']);
    socket.says({ type: 'event', seq: 1, id: 'c1', event: 'result', data: 1 });
    assert.deepEqual(await Promise.all(both), [1, 1]);
});

test('Where the browser opens no socket at all, that is told, and not tried again', async () => {
    const gate = await loggedIn();
    globalThis.WebSocket = class { constructor() { throw new DOMException('mixed content', 'SecurityError'); } };
    await assert.rejects(gate.connect(), { code: 'unreachable' });
    mock.timers.tick(600_000);
    await settle();
    assert.equal(asked('POST /api/session/ses_one/ticket').length, 1);
    assert.equal(gate.socket.state, 'closed');
});

test('A ticket whose session ends before the socket opens leads nowhere, and is not fetched in a loop', async () => {
    const gate = await loggedIn();
    const opened = gate.connect();
    await settle();
    // The upgrade is refused, which a browser tells as 1006; the next ticket is refused, and so is a refresh.
    answers['POST /api/session/ses_one/ticket'] = [401, { code: 'invalid_token' }];
    answers['POST /api/auth/refresh'] = [401, { code: 'invalid_grant' }];
    answers['GET /api/session/current'] = [410, { code: 'session_ended' }];
    sockets[0].onclose({ code: 1006, reason: '' });
    mock.timers.tick(1_000);
    await assert.rejects(opened, { code: 'invalid_token' });
    assert.deepEqual([gate.session, gate.socket.state], [null, 'closed']);
    const before = requests.length;
    for (let minute = 0; minute < 60; minute += 1) { mock.timers.tick(60_000); await settle(); }
    assert.deepEqual([requests.length - before, sockets.length], [0, 1]);
});

// MARK: Offline, asleep, and a wrong clock

test('A socket spends no attempt while offline, and comes back when the network does', async () => {
    const gate = await loggedIn();
    const socket = await connected(gate);
    setOnline(false);
    const before = requests.length;
    socket.onclose({ code: 1006, reason: '' });
    mock.timers.tick(3_600_000);
    await settle();
    assert.equal(requests.length, before, 'a request was made while offline');
    assert.deepEqual([gate.socket.state, gate.socket.offline], ['waiting', true]);
    setOnline(true);
    happens('online');
    mock.timers.tick(0);
    await settle();
    assert.equal(gate.socket.state, 'connecting');
    sockets.at(-1).says({ type: 'ready', session: {}, last_seq: 0 });
    assert.equal(gate.socket.state, 'open');
});

test('A tab that slept for a day renews its token, replaces the socket it had, and asks once', async () => {
    const gate = await loggedIn();
    await connected(gate);
    // Timers stood still: the clock went on without them, and no event told of the socket's end.
    mock.timers.setTime(Date.now() + 86_400_000);
    const before = asked('POST /api/auth/refresh').length;
    happens('pageshow');
    mock.timers.tick(0);
    await settle();
    assert.equal(asked('POST /api/auth/refresh').length - before, 1);
    assert.equal(sockets.length, 2, 'the dead socket was not replaced');
    assert.equal(sockets[0].closedWith, 1000);
    sockets[1].says({ type: 'ready', session: {}, last_seq: 0 });
    assert.equal(gate.socket.state, 'open');
});

test('A tab that slept until its login had ended says so, and tries nothing more', async () => {
    const gate = await loggedIn();
    await connected(gate);
    const told = [];
    gate.on('session', (session) => told.push(session));
    answers['POST /api/auth/refresh'] = [401, { code: 'invalid_grant' }];
    answers['GET /api/session/current'] = [410, { code: 'session_expired' }];
    mock.timers.setTime(Date.now() + 86_400_000);
    happens('online');
    mock.timers.tick(0);
    await settle();
    assert.deepEqual([gate.authorized, gate.session, told.at(-1)], [false, null, null]);
    sockets[0].onclose({ code: 1006, reason: '' });
    await settle();
    const before = requests.length;
    for (let turn = 0; turn < 20; turn += 1) { mock.timers.tick(60_000); await settle(); }
    assert.deepEqual([requests.length - before, sockets.length, gate.socket.state], [0, 1, 'closed']);
});

for (const hours of [-1, 1]) {
    test(`A clock that is ${hours} h off changes nothing: tokens are renewed by how long they last`, async () => {
        mock.timers.setTime(Date.now() + hours * 3_600_000);
        const gate = await loggedIn();
        mock.timers.tick(600_000);
        await settle();
        assert.equal(asked('POST /api/auth/refresh').length, 0);
        mock.timers.tick(150_000);
        await settle();
        assert.equal(asked('POST /api/auth/refresh').length, 1);
        assert.ok(gate.authorized);
    });
}

// MARK: Tabs

/** Web Locks as the tabs of a browser share them: of each name one holder at a time, in the order of the requests. */
function locksOfTabs() {
    const last = new Map();
    const request = (name, ...rest) => {
        const turn = (last.get(name) ?? Promise.resolve()).then(rest.at(-1));
        last.set(name, turn.catch(() => {}));
        return turn;
    };
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: true, locks: { request } }, configurable: true });
}

/** An answer that comes when it is told to. @param {unknown} body */
function held(body) {
    let arrive;
    const answer = new Promise((resolve) => { arrive = () => resolve(Response.json(body)); });
    return { answer, arrive };
}

test('What sets cookies is asked for one at a time in all tabs: no late answer puts old ones in the place of newer', async () => {
    locksOfTabs();
    const [one, two] = [await loggedIn(), new Gatehouse({ base })];
    answers['POST /api/session/create-anonymous'] = owned;
    const slow = held({ access_token: 'late', expires_in: 900 });
    answers['POST /api/auth/refresh'] = () => slow.answer;
    const before = requests.length;
    const all = [
        one.refresh(), two.login({ email: 'e', password: 'p' }), two.start(), two.current(), one.logout(),
    ];
    await settle();
    assert.deepEqual(requests.slice(before).map(({ key }) => key), ['POST /api/auth/refresh']);
    slow.arrive();
    await Promise.all(all);
    assert.deepEqual(requests.slice(before).map(({ key }) => key), [
        'POST /api/auth/refresh', 'POST /api/auth/login', 'GET /api/session/current',
        'POST /api/session/create-anonymous', 'GET /api/session/current', 'POST /api/auth/logout',
    ]);
});

test('A page that may have no locks, or waits for a tab that is frozen, goes on without', async () => {
    for (const request of [
        async () => { throw new DOMException('not here', 'SecurityError'); },
        (_name, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ]) {
        Object.defineProperty(globalThis, 'navigator', { value: { onLine: true, locks: { request } }, configurable: true });
        const started = new Gatehouse({ base }).start();
        await settle();
        mock.timers.tick(75_000);
        assert.equal((await started).session_id, 'ses_one');
    }
});

test('A login that meets one which a reload cut off is repeated once', async () => {
    const gate = new Gatehouse({ base });
    await gate.start();
    const conflict = [409, { code: 'session_conflict' }];
    const served = [conflict, { access_token: 'a1', expires_in: 900, session: 'resumed' }];
    answers['POST /api/auth/login'] = () => served.shift();
    assert.equal((await gate.login({ email: 'e', password: 'p' })).how, 'resumed');
    answers['POST /api/auth/login'] = () => conflict;
    await assert.rejects(gate.login({ email: 'e', password: 'p' }), { code: 'session_conflict' });
    assert.equal(asked('POST /api/auth/login').length, 4);
});

/** Channels between tabs; what one says the test hands to the others: `say(message)`. */
function channel() {
    const [listeners, said] = [[], []];
    globalThis.BroadcastChannel = class {
        addEventListener(_, listener) { listeners.push(listener); }
        postMessage(message) { said.push(message); }
    };
    return { said, say: (data) => { for (const listener of listeners) listener({ data }); } };
}

test('What tabs tell each other may come late: a session keeps its owner, and the cookie says which session counts', async () => {
    const { said, say } = channel();
    const gate = await loggedIn();
    const before = requests.length;
    say({ kind: 'session', session: anonymous });
    await settle();
    assert.deepEqual([gate.session.state, gate.accessToken, requests.length - before], ['authenticated', 'a1', 0]);
    // Three tabs tell of a session that is over.
    for (let tab = 0; tab < 3; tab += 1) say({ kind: 'session', session: { ...anonymous, session_id: 'ses_old' } });
    await settle();
    assert.deepEqual([gate.session.session_id, gate.accessToken], ['ses_one', 'a1']);
    // And of one that another tab has begun: asked for once, and its token is asked of the others.
    answers['GET /api/session/current'] = { ...owned, session_id: 'ses_two', user_id: 'usr_2' };
    const asks = asked('GET /api/session/current').length;
    for (let tab = 0; tab < 3; tab += 1) say({ kind: 'session', session: { ...owned, session_id: 'ses_two', user_id: 'usr_2' } });
    await settle();
    assert.deepEqual([gate.session.session_id, gate.accessToken], ['ses_two', null]);
    assert.equal(asked('GET /api/session/current').length - asks, 1);
    assert.ok(said.some(({ kind, sessionID }) => kind === 'want' && sessionID === 'ses_two'));
    say({ kind: 'token', token: 'b1', expiresIn: 900_000, sessionID: 'ses_two' });
    assert.equal(gate.accessToken, 'b1');
    for (let turn = 0; turn < 10; turn += 1) { mock.timers.tick(20); await settle(); }
    assert.equal(asked('POST /api/auth/refresh').length, 0);
});

test('A token that comes when its session has ended meanwhile, or is another user’s by now, is not kept', async () => {
    const { say } = channel();
    const gate = await loggedIn();
    const late = held({ access_token: 'late', expires_in: 900, user_id: 'usr_1' });
    answers['POST /api/auth/refresh'] = () => late.answer;
    const refreshed = gate.refresh();
    await settle();
    say({ kind: 'ended', sessionID: 'ses_one' });
    late.arrive();
    await refreshed;
    assert.deepEqual([gate.session, gate.accessToken], [null, null]);

    await gate.start();
    await gate.login({ email: 'e', password: 'p' });
    // Another tab has logged out and another user in; its messages are still on their way.
    answers['POST /api/auth/refresh'] = { access_token: 'b1', expires_in: 900, user_id: 'usr_2' };
    answers['GET /api/session/current'] = { ...owned, session_id: 'ses_two', user_id: 'usr_2' };
    await gate.refresh();
    assert.deepEqual([gate.session.session_id, gate.session.user_id, gate.accessToken], ['ses_two', 'usr_2', 'b1']);
});

test('A refused refresh ends the login at once, whichever part asked for it', async () => {
    const gate = await loggedIn();
    const told = [];
    gate.on('session', (session) => told.push(session));
    answers['GET /orders'] = [401, { code: 'token_expired' }];
    answers['POST /api/auth/refresh'] = [401, { code: 'invalid_grant' }];
    answers['GET /api/session/current'] = [410, { code: 'session_ended' }];
    assert.equal((await gate.fetch('/orders')).status, 401);
    assert.deepEqual([gate.session, gate.authorized, told], [null, false, [null]]);
});

test('A reload while refreshes fail gets its token when they work again, and requests wait for one under way', async () => {
    answers['POST /api/session/create-anonymous'] = owned;
    answers['POST /api/auth/refresh'] = [503, { code: 'store_unavailable' }];
    const gate = new Gatehouse({ base });
    await gate.start();
    assert.equal(gate.authorized, false);
    const slow = held({ access_token: 'a1', expires_in: 900 });
    answers['POST /api/auth/refresh'] = () => slow.answer;
    mock.timers.tick(500);
    answers['GET /orders'] = { ok: true };
    const answer = gate.fetch('/orders');
    await settle();
    slow.arrive();
    assert.equal((await answer).status, 200);
    assert.deepEqual(asked('GET /orders').map(({ token }) => token), ['Bearer a1']);
});

test('A refresh that comes due offline is made when the network is back', async () => {
    answers['POST /api/session/create-anonymous'] = owned;
    answers['POST /api/auth/refresh'] = new TypeError('Failed to fetch');
    const gate = new Gatehouse({ base });
    await gate.start();
    setOnline(false);
    mock.timers.tick(3_600_000);
    await settle();
    assert.equal(asked('POST /api/auth/refresh').length, 1);
    answers['POST /api/auth/refresh'] = { access_token: 'a1', expires_in: 900 };
    setOnline(true);
    happens('online');
    mock.timers.tick(0);
    await settle();
    assert.equal(gate.accessToken, 'a1');
});

test('An anonymous session that expired while its tab slept is noticed when the tab wakes', async () => {
    const platform = new PlatformState({ baseUrl: base });
    mock.timers.tick(0);
    await platform.ready;
    await settle();
    happens('pageshow');
    assert.equal(asked('GET /api/session/current').length, 0, 'it was heard of a moment ago');
    mock.timers.setTime(Date.now() + 86_400_000);
    answers['GET /api/session/current'] = [410, { code: 'session_expired' }];
    answers['POST /api/session/create-anonymous'] = { ...anonymous, session_id: 'ses_two' };
    happens('pageshow');
    await settle();
    assert.equal(platform.session, null);
    mock.timers.tick(0);
    await settle();
    assert.equal(platform.sessionId, 'ses_two');
    platform.close();
});

test('A listener’s own fault does not become one of the client', async () => {
    const gate = await loggedIn();
    const faults = [];
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => faults.push(error.message));
    gate.on('token', () => { throw new Error('mine'); });
    await gate.refresh();
    await settle();
    for (const listener of before) process.on('uncaughtException', listener);
    assert.deepEqual([gate.authorized, faults], [true, ['mine']]);
});

// MARK: Answers that no gateway gives

/** What something between page and gateway may answer. */
const STRANGE = {
    'a page (HTML)': () => page(), 'nothing': () => new Response('', { status: 200 }),
    'a JSON list': () => [200, []], 'a word': () => new Response('ok'), 'half an object': () => [200, { hello: 1 }],
    'a page that says 502': () => page(502), 'a 503 without a body': () => new Response(null, { status: 503 }),
};

for (const [name, answer] of Object.entries(STRANGE)) {
    test(`A refresh answered with ${name} keeps the login, is told, and is tried again ever more rarely`, async () => {
        const gate = await loggedIn();
        const told = [];
        gate.on('refusal', ({ code }) => told.push(code));
        answers['POST /api/auth/refresh'] = answer;
        for (let second = 0; second < 1_300; second += 1) { mock.timers.tick(1_000); await settle(); }
        assert.ok(told.length > 5 && told.length < 70, `${told.length} attempts in ten minutes`);
        assert.ok(told.every((code) => code === 'unexpected_answer'), told.join());
        assert.equal(gate.session.session_id, 'ses_one');
        answers['POST /api/auth/refresh'] = { access_token: 'back', expires_in: 900 };
        mock.timers.tick(30_000);
        await settle();
        assert.equal(gate.accessToken, 'back');
    });

    test(`A session answered with ${name} is a refusal in words`, async () => {
        answers['POST /api/session/create-anonymous'] = answer;
        await assert.rejects(new Gatehouse({ base }).start(), (refusal) => {
            assert.ok(refusal instanceof Refusal && refusal.isPassing);
            assert.match(refusal.detail, /service worker/);
            return refusal.code === 'unexpected_answer';
        });
    });
}

for (const expires of [0, -1, '900', null, undefined]) {
    test(`A token that expires in ${JSON.stringify(expires)} is none, and is not refreshed in a loop`, async () => {
        const gate = await loggedIn();
        answers['POST /api/auth/refresh'] = { access_token: 'a2', expires_in: expires };
        await assert.rejects(gate.refresh(), { code: 'unexpected_answer' });
        assert.equal(gate.accessToken, 'a1');
    });
}

test('A ticket that is a page is told, and does not open a socket', async () => {
    const gate = await loggedIn();
    const told = [];
    gate.on('refusal', ({ code }) => told.push(code));
    answers['POST /api/session/ses_one/ticket'] = () => page();
    gate.connect().catch(() => {});
    for (let second = 0; second < 120; second += 1) { mock.timers.tick(1_000); await settle(); }
    assert.equal(sockets.length, 0);
    assert.ok(told.length > 3 && told.length < 20, String(told.length));
});

test('A refusal without a body has its status, and one of 401 is final', async () => {
    answers['POST /api/auth/login'] = new Response(null, { status: 401 });
    await assert.rejects(new Gatehouse({ base }).login({ email: 'e', password: 'p' }), (refusal) => {
        assert.deepEqual([refusal.status, refusal.code, refusal.isPassing], [401, 'unexpected_answer', false]);
        return true;
    });
});

test('Malformed frames are left out and told, and the stream goes on', async () => {
    const gate = await loggedIn();
    const told = [];
    const seen = [];
    gate.on('refusal', ({ code }) => told.push(code));
    gate.on('event', (frame) => seen.push(frame.seq));
    const socket = await connected(gate);
    const frames = [
        '', '{', 'null', '7', '[]', '{}', '{"type":"ready"}', '{"type":"event"}', '{"type":"event","seq":"1","id":"a"}',
        '{"type":"ready","last_seq":4,"lost":true}', '{"type":"event","seq":1.5,"id":"a"}', '{"type":"event","seq":1e99,"id":"a"}', '{"type":"new"}',
    ];
    for (const data of frames) socket.onmessage({ data });
    socket.onmessage({ data: new Blob(['{}']) });
    socket.says({ type: 'event', seq: 1, id: 'a', event: 'result', data: 1 });
    assert.equal(told.filter((code) => code === 'malformed_frame').length, frames.length + 1);
    assert.equal(seen.at(-1), 1);
    assert.equal(gate.socket.state, 'open');
});

test('A socket that opens and says nothing is given up, and tried again', async () => {
    const gate = await loggedIn();
    gate.connect().catch(() => {});
    await settle();
    assert.equal(sockets.length, 1);
    mock.timers.tick(20_000);
    await settle();
    assert.equal(gate.socket.state, 'waiting');
    assert.equal(sockets[0].closedWith, 1000);
    mock.timers.tick(30_000);
    await settle();
    assert.equal(sockets.length, 2);
});

// MARK: ExperienceClient

test('The API by method: paths, credentials and refusals with their code', async () => {
    const api = new ExperienceClient({ baseUrl: base, accessToken: () => 'a1', sessionSecret: 'sec_1' });
    answers['GET /api/auth/me'] = { email: 'ada@example.com' };
    assert.equal((await api.me()).email, 'ada@example.com');
    assert.deepEqual([requests[0].token, requests[0].secret], ['Bearer a1', 'sec_1']);
    answers['POST /api/intent'] = { type: 'event', seq: 1, id: 'c1', event: 'result', data: { n: 1 } };
    assert.deepEqual(await api.intent('ses_one', 'echo', { n: 1 }, { id: 'c1' }), { n: 1 });
    assert.equal(requests.at(-1).session, 'ses_one');
    answers['POST /api/intent'] = { type: 'event', seq: 2, id: 'c2', event: 'error', error: { code: 'not_found' } };
    await assert.rejects(api.intent('ses_one', 'artifact.get'), { code: 'not_found' });
    answers['DELETE /api/session/ses_%2F'] = [403, { code: 'session_mismatch' }];
    await assert.rejects(api.endSession('ses_/'), { code: 'session_mismatch', status: 403 });
    answers['POST /api/auth/password'] = [204];
    assert.equal(await api.changePassword({ current: 'a', next: 'b' }), null);
    assert.deepEqual(JSON.parse(requests.at(-1).body), { current: 'a', new: 'b' });
    await assert.rejects(api.call('GET', 'https://elsewhere.test/'), TypeError);
    await assert.rejects(api.call('GET', '//elsewhere.test/', { bearer: true }), TypeError);
    assert.ok(requests.every(({ key }) => !key.includes('elsewhere')));
});
