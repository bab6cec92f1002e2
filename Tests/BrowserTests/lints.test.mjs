// What the token inspector says about tokens: node --test Tests/BrowserTests/lints.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST, Unreadable, decode, duplicateName, lints, span, times } from '../../Sources/Web/Assets/token-lints.js';

const now = Date.UTC(2026, 0, 1);
const seconds = now / 1000;
const part = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const token = (header, payload, signature = 'AAAA') => `${part(header)}.${part(payload)}.${signature}`;

const header = { alg: 'ES256', typ: 'at+jwt', kid: 'key-1' };
const payload = {
    iss: 'https://gate.example', aud: 'gatehouse', sub: 'usr_1', client_id: 'gatehouse', jti: 'j', scope: 'a b',
    iat: seconds, nbf: seconds, exp: seconds + 900,
};
const without = (name) => Object.fromEntries(Object.entries(payload).filter(([key]) => key !== name));
const say = (head, claims, signature) => lints(decode(token(head, claims, signature)), now);

test('A good access token has nothing odd', () => assert.deepEqual(say(header, payload), []));

for (const [what, level, rule, head, claims, signature] of [
    ['no alg', 'bad', /7515/, { typ: 'at+jwt' }, payload],
    ['alg none', 'bad', /8725 §3.2/, { ...header, alg: 'None' }, payload],
    ['a symmetric alg', 'warn', /8725 §3.5/, { ...header, alg: 'HS256' }, payload],
    ['no signature', 'bad', /7515 §5.2/, header, payload, ''],
    ['jku', 'bad', /8725 §3.10/, { ...header, jku: 'https://evil.example' }, payload],
    ['a key of its own', 'warn', /8725 §3.10/, { ...header, jwk: {} }, payload],
    ['a kid that is a path', 'warn', /8725 §3.10/, { ...header, kid: '../../dev/null' }, payload],
    ['crit', 'warn', /7515/, { ...header, crit: ['exp'] }, payload],
    ['b64', 'bad', /7797/, { ...header, b64: false }, payload],
    ['no typ', 'note', /8725 §3.11/, { alg: 'ES256' }, payload],
    ['no exp', 'bad', /8725/, header, without('exp')],
    ['exp as text', 'bad', /7519 §2/, header, { ...payload, exp: '1' }],
    ['exp that is past', 'warn', /7519 §4.1.4/, header, { ...payload, iat: 0, nbf: 0, exp: seconds - 1 }],
    ['nbf that is to come', 'warn', /7519 §4.1.5/, header, { ...payload, nbf: seconds + 100 }],
    ['nbf behind exp', 'bad', /7519 §4.1.5/, header, { ...payload, nbf: seconds + 1000 }],
    ['iat that is to come', 'warn', /7519 §4.1.6/, header, { ...payload, iat: seconds + 100 }],
    ['a long life', 'warn', /9700/, header, { ...payload, exp: seconds + 864_000 }],
    ['no iss', 'warn', /8725 §3.8/, header, without('iss')],
    ['no aud', 'warn', /8725 §3.9/, header, without('aud')],
    ['a password', 'warn', /7519 §12/, header, { ...payload, password: 'x' }],
    ['a session id', 'warn', /Gatehouse/, header, { ...payload, s: `ses_${'a'.repeat(22)}` }],
    ['no jti', 'warn', /9068 §2.2/, header, without('jti')],
    ['scope as a list', 'warn', /9068 §2.2.3/, header, { ...payload, scope: ['a'] }],
    ['a nonce', 'warn', /9068 §4/, header, { ...payload, nonce: 'n' }],
    ['two audiences', 'note', /9068 §3/, header, { ...payload, aud: ['a', 'b'] }],
    ['another typ', 'note', /9068 §2.1/, { ...header, typ: 'JWT' }, payload],
]) {
    test(`${what} is odd`, () => {
        const found = say(head, claims, signature);
        assert.ok(found.some((lint) => lint.level === level && rule.test(lint.rule)), JSON.stringify(found));
        const order = found.map((lint) => ['bad', 'warn', 'note'].indexOf(lint.level));
        assert.deepEqual(order, [...order].sort());
    });
}

test('An ID token is not held to the rules of access tokens', () => {
    assert.deepEqual(say({ ...header, typ: 'JWT' }, { ...without('client_id'), nonce: 'n' }), []);
});

for (const [what, text] of [
    ['two parts', 'a.b'], ['an encrypted token', 'a.b.c.d.e'], ['padding', `${part(header)}.${part(payload)}.AA==`],
    ['a header that is no JSON', `${part('{')}.${part(payload)}.AAAA`],
    ['a header that is a list', `${part([])}.${part(payload)}.AAAA`],
    ['bits behind the last byte', `${part(header)}.${part(payload)}.AB`],
    ['a name that is there twice', `${part('{"alg":"ES256","\\u0061lg":"none"}')}.${part(payload)}.AAAA`],
    ['bytes that are no UTF-8', `${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]).toString('base64url')}.e30.AAAA`],
    ['too much', 'a'.repeat(MOST + 1)],
]) test(`${what} is not read`, () => assert.throws(() => decode(text), Unreadable));

test('White space and the word Bearer are left out; a payload that is no JSON is none', () => {
    assert.deepEqual(decode(` Bearer ${token(header, payload).replace('.', '.\n ')}`).payload, payload);
    assert.equal(decode(`${part(header)}.${part('hello')}.AAAA`).payload, null);
});

test('Names that are there twice are found at every depth, and only in one object', () => {
    assert.equal(duplicateName('{"a":{"b":1,"b":2}}'), 'b');
    assert.equal(duplicateName('{"a":[{"b":1},{"b":2}],"c":"\\"b\\":"}'), null);
    assert.equal(duplicateName('{"a":["a","a"],"b":"b"}'), null);
    assert.equal(duplicateName('{"a":[1,{"x":[]}],"a":1}'), 'a');
});

test('Times are told in words', () => {
    assert.equal(span(900_000), 'in 15 minutes');
    assert.equal(span(-3 * 86_400_000), '3 days ago');
    assert.equal(span(-1_000), '1 second ago');
    assert.deepEqual(times({ exp: seconds + 900, iat: 'soon' }, now), [
        { name: 'exp', what: 'expires', date: '2026-01-01T00:15:00.000Z', words: 'in 15 minutes' },
        { name: 'iat', what: 'issued', date: '"soon"', words: 'not a number of seconds' },
    ]);
});
