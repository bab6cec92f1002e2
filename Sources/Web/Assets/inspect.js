// @ts-check
/** The token inspector: reads a token, says what is odd about it, and verifies it with WebCrypto, all in the page. */

import { Unreadable, decode, lints, times } from '/token-lints.js';

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** Elliptic curve and hash of the ECDSA algorithms (RFC 7518 section 3.4). */
const CURVES = { ES256: ['P-256', 'SHA-256'], ES384: ['P-384', 'SHA-384'], ES512: ['P-521', 'SHA-512'] };

/**
 * What WebCrypto needs for an algorithm of JOSE; null where the browser has nothing for it.
 * @param {string} alg @returns {{kty: string, crv?: string, importing: any, verifying: any}|null}
 */
function parameters(alg) {
    const rsa = /^(RS|PS)(256|384|512)$/.exec(alg);
    if (rsa) {
        const name = rsa[1] === 'RS' ? 'RSASSA-PKCS1-v1_5' : 'RSA-PSS';
        return {
            kty: 'RSA', importing: { name, hash: `SHA-${rsa[2]}` }, verifying: { name, saltLength: Number(rsa[2]) / 8 },
        };
    }
    if (Object.hasOwn(CURVES, alg)) {
        const [crv, hash] = CURVES[/** @type {keyof CURVES} */ (alg)];
        return { kty: 'EC', crv, importing: { name: 'ECDSA', namedCurve: crv }, verifying: { name: 'ECDSA', hash } };
    }
    if (alg === 'EdDSA' || alg === 'Ed25519') {
        return { kty: 'OKP', crv: 'Ed25519', importing: { name: 'Ed25519' }, verifying: { name: 'Ed25519' } };
    }
    return null;
}

// MARK: Keys

/** A key as the page knows it: a JWK, or the bytes of a PEM file. @typedef {Record<string, any> & {spki?: Uint8Array}} Key */

/** @type {Promise<Key[]>|null} */
let gatewayKeys = null;

/** @returns {Promise<Key[]>} */
function keysOfGateway() {
    gatewayKeys ??= fetch('/.well-known/jwks.json', { credentials: 'omit' })
        .then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(`status ${answer.status}`)))
        .then(({ keys }) => keys)
        .catch((error) => { gatewayKeys = null; throw new Unreadable(`The gateway’s keys can’t be fetched: ${error.message}.`); });
    return gatewayKeys;
}

/** Keys of a JWK, a JWK set or PEM files. @param {string} text @returns {Key[]} */
function readKeys(text) {
    if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw new Unreadable('That is a private key. Verifying takes the public one; keep this to yourself.');
    const files = [...text.matchAll(/-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]*)-----END PUBLIC KEY-----/g)];
    if (files.length > 0) {
        return files.map(([, body]) => ({ spki: Uint8Array.from(atob(body.replace(/\s+/g, '')), (byte) => byte.charCodeAt(0)) }));
    }
    if (text.includes('-----BEGIN')) throw new Unreadable('Of PEM files only PUBLIC KEY is read: openssl x509 -pubkey -noout takes it out of a certificate.');
    let value;
    try { value = JSON.parse(text); } catch { throw new Unreadable('Neither JSON nor PEM.'); }
    const keys = Array.isArray(value?.keys) ? value.keys : [value];
    if (!keys.every((/** @type {any} */ key) => typeof key?.kty === 'string')) throw new Unreadable('A key has the member kty.');
    if (keys.some((/** @type {any} */ key) => 'd' in key)) throw new Unreadable('There is a private key in it (d). Verifying takes the public one; keep this to yourself.');
    return keys;
}

/**
 * The keys that may have signed: one key, one algorithm, and the kid where the token names one.
 * @param {Key[]} keys @param {Record<string, any>} header @param {NonNullable<ReturnType<typeof parameters>>} needed
 */
function candidates(keys, header, needed) {
    const edwards = ['EdDSA', 'Ed25519'];
    const fit = keys.filter((key) => key.spki
        || (key.kty === needed.kty && (!needed.crv || key.crv === needed.crv) && key.use !== 'enc'
            && (key.alg === undefined || key.alg === header.alg || (edwards.includes(key.alg) && edwards.includes(header.alg)))));
    const named = fit.filter((key) => key.spki || key.kid === undefined || key.kid === header.kid);
    return header.kid === undefined ? fit : named;
}

/** Whether a key made the signature. @param {Key} key @param {import('./token-lints.js').Token} token @param {any} needed */
async function verifies(key, token, needed) {
    const { kty, crv, n, e, x, y } = key;
    const imported = key.spki
        ? await crypto.subtle.importKey('spki', /** @type {any} */ (key.spki), needed.importing, false, ['verify'])
        : await crypto.subtle.importKey('jwk', { kty, crv, n, e, x, y }, needed.importing, false, ['verify']);
    const signed = new TextEncoder().encode(token.signed);
    return crypto.subtle.verify(needed.verifying, imported, /** @type {any} */ (token.signature), signed);
}

/** @param {import('./token-lints.js').Token} token @returns {Promise<[string, 'good'|'bad'|'warn'|'']>} */
async function verdict(token) {
    const { alg, kid } = token.header;
    const isPasted = at('pasted').hidden === false;
    if (String(alg).toLowerCase() === 'none') return ['It has no signature to verify. Nothing in it can be trusted.', 'bad'];
    if (/^HS/.test(alg)) return [`${alg} has one secret for making and verifying, which should not be pasted anywhere. Use gatehouse token verify.`, 'warn'];
    const needed = parameters(alg);
    if (!needed) return [`This browser has no ${alg}. gatehouse token verify has.`, 'warn'];
    if (!globalThis.crypto?.subtle) return ['Browsers verify over https and on localhost only.', 'warn'];
    /** @type {Key[]} */
    let keys;
    if (isPasted) {
        const text = at('key').value.trim();
        if (!text) return ['Paste the public key of its issuer.', ''];
        keys = readKeys(text);
    } else {
        keys = await keysOfGateway();
    }
    const fit = candidates(keys, token.header, needed);
    const whose = isPasted ? 'you pasted' : 'of this gateway';
    if (fit.length === 0) {
        return [`No key ${whose} is for ${alg}${kid === undefined ? '' : ` with the kid ${JSON.stringify(kid)}`}. It was not verified.`, 'warn'];
    }
    let faults = 0;
    for (const key of fit) {
        try {
            if (await verifies(key, token, needed)) {
                return [`The signature is good: the key ${key.kid ? `${key.kid} ` : ''}${whose} made it. Check yourself whether the claims are what you expect.`, 'good'];
            }
        } catch { faults += 1; }
    }
    if (faults === fit.length) return [`The browser can’t use the key${fit.length > 1 ? 's' : ''} ${whose} for ${alg}.`, 'warn'];
    return [`The signature is not by a key ${whose}. Nothing in the token can be trusted.`, 'bad'];
}

// MARK: Showing

/** @param {string} id @param {string} text @param {string} [tone] */
function show(id, text, tone = '') {
    at(id).textContent = text;
    at(id).dataset.tone = tone;
}

/** @param {string} tag @param {string} className @param {...(Node|string)} children */
function make(tag, className, ...children) {
    const element = document.createElement(tag);
    element.className = className;
    element.append(...children);
    return element;
}

/** Names that look the same are told apart: everything outside of ASCII and all control characters are escaped. */
function pretty(/** @type {any} */ value) {
    return JSON.stringify(value, null, 2).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Raised with every change; a verdict of an older one is dropped. */
let turn = 0;

async function look() {
    const mine = ++turn;
    const text = at('token').value;
    for (const id of ['token-error', 'key-error', 'verdict', 'link-note']) show(id, '');
    const cards = ['lints', 'times', 'header', 'payload'];
    const hideAll = () => { for (const card of cards) at(`${card}-card`).hidden = true; };
    at('link').disabled = true;
    if (!text.trim()) return hideAll();
    let token;
    try {
        token = decode(text);
    } catch (error) {
        hideAll();
        return show('token-error', error instanceof Unreadable ? error.message : String(error));
    }
    at('link').disabled = false;
    const now = Date.now();
    show('header', pretty(token.header));
    show('payload', token.payload ? pretty(token.payload) : '');
    const odd = lints(token, now);
    at('lints').replaceChildren(...odd.map(({ level, rule, text: words }) =>
        make('li', level, make('span', 'badge', { bad: 'wrong', warn: 'careful', note: 'note' }[level]), ` ${words} `, make('span', 'aside', rule))));
    if (odd.length === 0) at('lints').append(make('li', 'note', 'Nothing.'));
    const dates = token.payload ? times(token.payload, now) : [];
    at('times').replaceChildren(...dates.map(({ name, what, date, words }) =>
        make('tr', '', make('th', '', `${what} `, make('code', 'aside', name)), make('td', '', words), make('td', 'aside', date))));
    at('lints-card').hidden = at('header-card').hidden = false;
    at('payload-card').hidden = token.payload === null;
    at('times-card').hidden = dates.length === 0;
    show('verdict', 'Verifying…');
    try {
        const [words, tone] = await verdict(token);
        if (mine === turn) show('verdict', words, tone);
    } catch (error) {
        if (mine !== turn) return;
        show('verdict', 'It was not verified.', 'warn');
        show(at('pasted').hidden ? 'token-error' : 'key-error', /** @type {Error} */ (error).message);
    }
}

/** The token of the address: what stands behind `#` is never sent. */
function readAddress() {
    let token = location.hash.slice(1).replace(/%(?![0-9a-fA-F]{2})/g, '');
    try { token = decodeURIComponent(token); } catch { /* bytes that are no text are shown as they came */ }
    if (token) at('token').value = token;
    look();
}

at('token').addEventListener('input', look);
at('key').addEventListener('input', look);
for (const choice of document.querySelectorAll('input[name=keys]')) {
    choice.addEventListener('change', () => {
        at('pasted').hidden = /** @type {HTMLInputElement} */ (document.querySelector('input[name=keys]:checked')).value !== 'pasted';
        look();
    });
}
at('clear').addEventListener('click', () => {
    at('token').value = '';
    history.replaceState(null, '', location.pathname);
    look();
    at('token').focus();
});
at('link').addEventListener('click', async () => {
    const link = `${location.origin}${location.pathname}#${at('token').value.replace(/\s+/g, '')}`;
    await navigator.clipboard.writeText(link).then(
        () => show('link-note', 'Copied. Anyone with the link has the token.'),
        () => { location.hash = link.slice(link.indexOf('#')); show('link-note', 'The address of this page is the link.'); });
});
addEventListener('hashchange', readAddress);
readAddress();
