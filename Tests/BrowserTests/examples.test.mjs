// The examples for programs around the gateway: node --test Tests/BrowserTests/examples.test.mjs
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AssertionVerifier, NotAsserted } from '../../Examples/server-assertion/assertion.mjs';

const now = 1_800_000_000;
const issuer = 'http://gate.test';
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const pairs = { ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }), Ed25519: generateKeyPairSync('ed25519') };
const keys = Object.entries(pairs).map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid }));

function make({ alg = 'ES256', header = {}, claims = {}, key = pairs[alg]?.privateKey } = {}) {
    const head = encode({ typ: 'gatehouse-assertion+jwt', alg, kid: alg, ...header });
    const body = encode({ iss: issuer, aud: '/orders', sub: 'usr_1', iat: now, exp: now + 60, ...claims });
    const signature = sign(alg === 'ES256' ? 'sha256' : null, Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' });
    return `${head}.${body}.${signature.toString('base64url')}`;
}

function verifier() {
    const fetched = [];
    const get = async (url) => { fetched.push(String(url)); return Response.json({ keys }); };
    return { fetched, verifier: new AssertionVerifier({ issuer, audience: '/orders', fetch: get, now: () => now }) };
}

test('A good assertion is taken, of either algorithm, and the keys are fetched once', async () => {
    const { verifier: judge, fetched } = verifier();
    for (const alg of ['ES256', 'Ed25519', 'ES256']) assert.equal((await judge.verify(make({ alg }))).sub, 'usr_1');
    assert.deepEqual(fetched, [`${issuer}/.well-known/jwks.json`]);
    // The second of two audiences counts, too.
    assert.ok(await judge.verify(make({ claims: { aud: ['/other', '/orders'] } })));
});

const good = make();
const [head, body] = good.split('.');
const publicPEM = pairs.ES256.publicKey.export({ type: 'spki', format: 'pem' });
const hmacHead = encode({ typ: 'gatehouse-assertion+jwt', alg: 'HS256', kid: 'ES256' });
const noneHead = encode({ typ: 'gatehouse-assertion+jwt', alg: 'none', kid: 'ES256' });
const FORGED = {
    'none at all': undefined, 'an empty one': '', 'a word': 'x', 'two parts': `${head}.${body}`, 'an altered signature': good.replace(/.(.)$/, (end) => (end[0] === 'A' ? 'B' : 'A') + end[1]),
    'altered claims': `${head}.${encode({ iss: issuer, aud: '/orders', sub: 'usr_2', iat: now, exp: now + 60 })}.${good.split('.')[2]}`,
    'the algorithm none': `${noneHead}.${body}.AA`,
    'an HMAC with the public key': `${hmacHead}.${body}.${createHmac('sha256', publicPEM).update(`${hmacHead}.${body}`).digest('base64url')}`,
    'an access token': make({ header: { typ: 'at+jwt' } }), 'no type': make({ header: { typ: undefined } }),
    'a critical extension': make({ header: { crit: ['b64'] } }), 'an unknown key': make({ header: { kid: 'other' } }),
    'no key': make({ header: { kid: undefined } }), 'the key of another algorithm': make({ header: { kid: 'Ed25519' } }),
    'somebody else’s key': make({ key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }),
    'another issuer': make({ claims: { iss: 'http://other.test' } }), 'another audience': make({ claims: { aud: '/other' } }),
    'an audience that begins alike': make({ claims: { aud: '/orders2' } }), 'an expired one': make({ claims: { exp: now - 31 } }),
    'one without an end': make({ claims: { exp: undefined } }), 'one from the future': make({ claims: { iat: now + 31 } }),
    'a name of JavaScript as algorithm': `${encode({ typ: 'gatehouse-assertion+jwt', alg: 'constructor', kid: 'ES256' })}.${body}.AA`,
};

for (const [name, assertion] of Object.entries(FORGED)) {
    test(`The example refuses ${name}`, async () => {
        await assert.rejects(verifier().verifier.verify(assertion), NotAsserted);
    });
}

test('Unknown keys do not make the example ask for keys again and again', async () => {
    const { verifier: judge, fetched } = verifier();
    for (let turn = 0; turn < 20; turn += 1) await assert.rejects(judge.verify(make({ header: { kid: `k${turn}` } })), NotAsserted);
    assert.equal(fetched.length, 1);
});

test('The React hook gives components what has changed, and the same object while nothing has', async () => {
    const place = mkdtempSync(join(tmpdir(), 'gatehouse-react-'));
    try {
        const folder = (name) => { const path = join(place, 'node_modules', name); mkdirSync(path, { recursive: true }); return path; };
        const assets = fileURLToPath(new URL('../../Sources/Web/Assets/', import.meta.url));
        for (const file of ['package.json', 'gatehouse.js', 'gatehouse.d.ts']) cpSync(join(assets, file), join(folder('gatehouse'), file));
        // The part of React that the hook uses: effects run at once, a store is read and subscribed to.
        writeFileSync(join(folder('react'), 'package.json'), '{"name": "react", "type": "module", "exports": "./index.js"}');
        writeFileSync(join(folder('react'), 'index.js'), `
            export const stores = [];
            export const useEffect = (effect) => { effect(); };
            export const useSyncExternalStore = (subscribe, read) => { stores.push({ subscribe, read }); return read(); };`);
        cpSync(fileURLToPath(new URL('../../Examples/react/use-gatehouse.js', import.meta.url)), join(place, 'use-gatehouse.mjs'));
        globalThis.location = new URL('http://gate.test/');
        delete globalThis.BroadcastChannel; // it would keep the process
        globalThis.fetch = async () => Response.json({ session_id: 'ses_one', state: 'anonymous', user_id: null });
        const { useGatehouse, useEvents } = await import(pathToFileURL(join(place, 'use-gatehouse.mjs')));
        const { stores } = await import(pathToFileURL(join(place, 'node_modules/react/index.js')));
        assert.equal(useGatehouse().session, null);
        const [{ subscribe, read }] = stores;
        assert.equal(read(), read());
        await new Promise((resolve) => { const stop = subscribe(() => { if (read().session) { stop(); resolve(); } }); });
        assert.equal(useGatehouse().session.session_id, 'ses_one');
        useEvents(() => {});
        assert.equal(useGatehouse().socket.state, 'idle', 'nobody is signed in: no socket');
    } finally {
        rmSync(place, { recursive: true, force: true });
    }
});
