// What the page shows of its own requests: node --test Tests/BrowserTests/exchanges.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, redacted, watch } from '../../Sources/Web/Assets/exchanges.js';

globalThis.location = new URL('http://gate.test/');
const at = (path) => new URL(path, location.href);

test('Secrets are cut, and passwords are not even begun', () => {
    const shown = redacted(JSON.stringify({
        email: 'ada@example.com', password: 'correct horse', access_token: 'eyJhbGciOiJ', refresh_token: 'ref_0123456789',
        session_secret: 'sec_0123456789', ticket: 'tkt_0123456789', session_id: 'ses_0123456789', nested: { current: 'a', new: 'b' },
    }));
    for (const secret of ['correct', 'eyJhbGciO', 'ref_01234', 'sec_01234', 'tkt_01234', '"a"', '"b"']) {
        assert.ok(!shown.includes(secret), secret);
    }
    assert.ok(shown.includes('eyJhbGci…') && shown.includes('ses_0123456789') && shown.includes('ada@example.com'));
    assert.equal(redacted('<p>no JSON'), '<p>no JSON');
});

test('A request is told by the step that it belongs to, with what is checked', () => {
    const login = describe(at('/api/auth/login'), { method: 'POST', body: '{"password":"x"}', headers: { 'Content-Type': 'application/json' } });
    assert.deepEqual([login.step, login.method, login.path], ['login', 'POST', '/api/auth/login']);
    assert.ok(login.checks.some((check) => check.includes('scrypt')) && !login.sent.join().includes('"x"'));
    const ticket = describe(at('/api/session/ses_1/ticket'), { method: 'POST', headers: { Authorization: 'Bearer eyJhbGciOiJ' } });
    assert.equal(ticket.step, 'socket');
    assert.ok(ticket.sent[0].endsWith('Bearer eyJhbGci…'));
    assert.equal(describe(at('/api/intent?access_token=0123456789'), { method: 'POST', credentials: 'omit' }).path,
        '/api/intent?access_token=01234567…');
    // One kind of credential sent as another is cut all the same.
    const swapped = describe(at('/api/intent'), { method: 'POST', headers: { 'Session-Id': 'eyJhbGciOiJ.eyJ.x', Authorization: 'Bearer ses_0123456789' } });
    assert.ok(!swapped.sent.join().includes('eyJhbGciO'), swapped.sent.join());
    // What an attempt to break in sends without cookies is told there.
    assert.equal(describe(at('/api/session/create-anonymous'), { method: 'POST', credentials: 'omit' }).step, 'break');
    assert.equal(describe(at('/elsewhere'), {}), null);
});

test('What is watched is answered as before, refusals and failures too', async () => {
    const answers = [Response.json({ access_token: 'eyJhbGciOiJ' }), Response.json({ code: 'invalid_grant' }, { status: 401 })];
    globalThis.fetch = async () => answers.shift() ?? Promise.reject(new TypeError('away'));
    globalThis.WebSocket = class extends EventTarget {};
    const told = [];
    watch((exchange) => told.push(exchange));
    const refresh = () => fetch(at('/api/auth/refresh'), { method: 'POST' });
    assert.equal((await (await refresh()).json()).access_token, 'eyJhbGciOiJ');
    assert.equal((await refresh()).status, 401);
    await assert.rejects(refresh(), TypeError);
    assert.deepEqual(told.map(({ status, isRefused }) => [status.slice(0, 9), isRefused]),
        [['200', false], ['401', true], ['no answer', true]]);
    assert.ok(!told[0].got.join().includes('eyJhbGciO'));
    const socket = new WebSocket('ws://gate.test/api/runtime/agent?ticket=tkt_0123456789', ['gatehouse.v1', 'bearer.eyJhbGciOiJ']);
    socket.dispatchEvent(new Event('close'));
    socket.dispatchEvent(new Event('close'));
    assert.equal(told.length, 4);
    assert.deepEqual([told[3].step, told[3].path], ['break', '/api/runtime/agent?ticket=tkt_0123…']);
    assert.ok(told[3].sent.join().includes('bearer.eyJhbGci…') && !told[3].sent.join().includes('eyJhbGciO'));
});
