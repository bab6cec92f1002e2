// The examples for programs around the gateway: node --test Tests/BrowserTests/examples.test.mjs
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
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
    'another issuer’s key': make({ key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }),
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

test('The keys are asked for again as soon as the gateway can answer', async () => {
    const got = [new Error('not there yet'), Response.json({ keys })];
    const get = async () => { const next = got.shift(); if (next instanceof Error) throw next; return next; };
    const judge = new AssertionVerifier({ issuer, audience: '/orders', fetch: get, now: () => now });
    await assert.rejects(judge.verify(good), (error) => !(error instanceof NotAsserted));
    assert.equal((await judge.verify(good)).sub, 'usr_1');
});

const compiler = spawnSync('tsc', ['--version']).status === 0 ? false : 'tsc is not installed';

test('The middleware for Next.js compiles, and lets in what is asserted', { skip: compiler }, async () => {
    const place = mkdtempSync(join(tmpdir(), 'gatehouse-next-'));
    try {
        const example = (name) => fileURLToPath(new URL(`../../Examples/server-assertion/${name}`, import.meta.url));
        for (const name of ['middleware.ts', 'assertion.mjs']) cpSync(example(name), join(place, name));
        // The part of Next.js that it uses.
        const next = join(place, 'node_modules/next');
        mkdirSync(next, { recursive: true });
        writeFileSync(join(next, 'package.json'), '{"name": "next", "type": "module", "exports": {"./server": "./server.js"}}');
        writeFileSync(join(next, 'server.d.ts'), `
            export type NextRequest = Request;
            export declare class NextResponse extends Response {
                static next(init: { request: { headers: Headers } }): NextResponse;
                static json(body: unknown, init: { status: number }): NextResponse;
            }`);
        writeFileSync(join(next, 'server.js'), `
            export class NextResponse extends Response {
                static next({ request }) { return Object.assign(new Response(), { passed: request.headers }); }
            }`);
        writeFileSync(join(place, 'package.json'), '{"type": "module"}');
        writeFileSync(join(place, 'node.d.ts'), `
            declare const process: { env: Record<string, string | undefined> };
            declare const Buffer: any;
            declare module 'node:crypto';`);
        const found = spawnSync('tsc', [
            '--strict', '--allowJs', '--noImplicitAny', 'false', '--target', 'es2022', '--module', 'node16',
            '--moduleResolution', 'node16', '--lib', 'es2022,dom,dom.iterable', '--outDir', 'out', 'middleware.ts', 'node.d.ts',
        ], { cwd: place, encoding: 'utf8' });
        assert.equal(found.status, 0, found.stdout);
        Object.assign(process.env, { GATEHOUSE: issuer });
        const before = globalThis.fetch;
        globalThis.fetch = async () => Response.json({ keys });
        try {
            const { middleware } = await import(pathToFileURL(join(place, 'out/middleware.js')));
            const soon = Math.floor(Date.now() / 1000);
            const asked = (assertion) => middleware(new Request(`${issuer}/orders`, { headers: { 'X-Gatehouse-Assertion': assertion } }));
            const answer = await asked(make({ claims: { iat: soon, exp: soon + 60 } }));
            assert.equal(answer.passed.get('x-user'), 'usr_1');
            assert.equal((await asked(make({ claims: { aud: '/other', iat: soon, exp: soon + 60 } }))).status, 401);
        } finally {
            globalThis.fetch = before;
            delete process.env.GATEHOUSE;
        }
    } finally {
        rmSync(place, { recursive: true, force: true });
    }
});

test('The React example gives components what has changed, and shows who is signed in', async () => {
    const place = mkdtempSync(join(tmpdir(), 'gatehouse-react-'));
    try {
        const folder = (name) => { const path = join(place, 'node_modules', name); mkdirSync(path, { recursive: true }); return path; };
        const assets = fileURLToPath(new URL('../../Sources/Web/Assets/', import.meta.url));
        for (const file of ['package.json', 'gatehouse.js', 'gatehouse.d.ts']) cpSync(join(assets, file), join(folder('gatehouse'), file));
        // The part of React that the example uses: effects run at once, a store is read and subscribed to, and an element
        // is what it was made of.
        writeFileSync(join(folder('react'), 'package.json'), '{"name": "react", "type": "module", "exports": "./index.js"}');
        writeFileSync(join(folder('react'), 'index.js'), `
            export const stores = [];
            export const useEffect = (effect) => { effect(); };
            export const useCallback = (callback) => callback;
            export const useState = (value) => [value, () => {}];
            export const useSyncExternalStore = (subscribe, read) => { stores.push({ subscribe, read }); return read(); };
            export const createElement = (type, props, ...children) =>
                typeof type === 'function' ? type(props ?? {}) : { type, props, children: children.flat() };`);
        writeFileSync(join(folder('react-dom'), 'package.json'),
            '{"name": "react-dom", "type": "module", "exports": {"./client": "./client.js"}}');
        writeFileSync(join(folder('react-dom'), 'client.js'),
            'export const shown = []; export const createRoot = () => ({ render: (tree) => shown.push(tree) });');
        writeFileSync(join(place, 'package.json'), '{"type": "module"}');
        for (const name of ['app.js', 'use-gatehouse.js']) {
            cpSync(fileURLToPath(new URL(`../../Examples/react/${name}`, import.meta.url)), join(place, name));
        }
        globalThis.location = new URL('http://gate.test/');
        globalThis.document = Object.assign(new EventTarget(), { getElementById: () => null });
        delete globalThis.BroadcastChannel; // it would keep the process
        const session = { session_id: 'ses_one', state: 'anonymous', user_id: null };
        globalThis.fetch = async (url) => Response.json(
            String(url).endsWith('/api/auth/login') ? { access_token: 'a1', expires_in: 900, session: 'upgraded' } : session);
        const { useGatehouse, useEvents } = await import(pathToFileURL(join(place, 'use-gatehouse.js')));
        const { stores } = await import(pathToFileURL(join(place, 'node_modules/react/index.js')));
        assert.equal(useGatehouse().session, null);
        const [{ subscribe, read }] = stores;
        assert.equal(read(), read());
        await new Promise((resolve) => { const stop = subscribe(() => { if (read().session) { stop(); resolve(); } }); });
        assert.equal(useGatehouse().session.session_id, 'ses_one');
        useEvents(() => {});
        assert.equal(useGatehouse().socket.state, 'idle', 'no user is signed in: no socket');

        await import(pathToFileURL(join(place, 'app.js')));
        const { shown } = await import(pathToFileURL(join(place, 'node_modules/react-dom/client.js')));
        const parts = (element, type) => (element?.type === type ? [element] : [])
            .concat((element?.children ?? []).flatMap((child) => parts(child, type)));
        assert.equal(parts(shown[0], 'code')[0].children[0], 'ses_one');
        assert.deepEqual(parts(shown[0], 'input').map(({ props }) => props.name), ['email', 'password']);
        Object.assign(session, { state: 'authenticated', user_id: 'usr_1' });
        const { auth } = useGatehouse();
        try {
            await auth.login({ email: 'e', password: 'p' });
            assert.ok(read().isAuthenticated);
        } finally {
            // The next refresh would keep the process.
            Object.assign(session, { state: 'anonymous', user_id: null });
            await auth.logout();
        }
    } finally {
        rmSync(place, { recursive: true, force: true });
        delete globalThis.document;
    }
});
