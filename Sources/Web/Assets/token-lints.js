// @ts-check
/**
 * Reads a token and says what is odd about it: the advice of RFC 8725 (JWT best current practices) and the rules of
 * RFC 9068 (JWT access tokens). Pure: the time is a parameter, and nothing is requested over the network.
 */

/** The longest token that is read, in characters. */
export const MOST = 65_536;

/** @typedef {{header: Record<string, any>, payload: Record<string, any>|null, signed: string, signature: Uint8Array}} Token */
/** @typedef {{level: 'bad'|'warn'|'note', rule: string, text: string}} Lint */

/** What is wrong with a text that is no token; the message is for people. */
export class Unreadable extends Error {}

/**
 * Reads a token in JWS compact serialization (RFC 7515 section 7.1).
 * @param {string} text white space around and within it, and `Bearer` before it, are left out
 * @returns {Token} `payload` is null where it is no JSON object
 */
export function decode(text) {
    const compact = text.replace(/^\s*Bearer\s+/i, '').replace(/\s+/g, '');
    if (compact.length > MOST) throw new Unreadable(`Longer than ${MOST} characters: tokens are not.`);
    const parts = compact.split('.');
    if (parts.length === 5) throw new Unreadable('Five parts: this token is encrypted (JWE). Only its receiver can read it.');
    if (parts.length !== 3) throw new Unreadable(`${parts.length} part${parts.length === 1 ? '' : 's'}, and a signed token has three.`);
    const header = object(parts[0], 'header');
    let payload = null;
    try { payload = object(parts[1], 'payload'); } catch { bytes(parts[1], 'payload'); }
    return { header, payload, signed: `${parts[0]}.${parts[1]}`, signature: bytes(parts[2], 'signature') };
}

/** Bytes of base64url without padding, in its one spelling. @param {string} text @param {string} part */
export function bytes(text, part) {
    if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) throw new Unreadable(`The ${part} is not base64url.`);
    const decoded = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (byte) => byte.charCodeAt(0));
    const again = btoa(Array.from(decoded, (byte) => String.fromCharCode(byte)).join(''));
    if (again.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') !== text) {
        throw new Unreadable(`The ${part} has bits behind its last byte: another text means the same.`);
    }
    return decoded;
}

/** @param {string} part @param {string} name @returns {Record<string, any>} */
function object(part, name) {
    let text;
    try {
        text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes(part, name));
    } catch (error) {
        throw error instanceof Unreadable ? error : new Unreadable(`The ${name} is not UTF-8.`);
    }
    let value;
    try { value = JSON.parse(text); } catch { throw new Unreadable(`The ${name} is not JSON.`); }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Unreadable(`The ${name} is not a JSON object.`);
    const twice = duplicateName(text);
    if (twice !== null) throw new Unreadable(`The ${name} has ${JSON.stringify(twice)} twice: readers disagree which one counts.`);
    return value;
}

/** A name that an object of valid JSON has twice, or null. @param {string} text @returns {string|null} */
export function duplicateName(text) {
    /** @type {(Set<string>|null)[]} */
    const open = [];
    let isName = false;
    for (const [piece] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
        const names = open.at(-1);
        if (piece === '{') { open.push(new Set()); isName = true; }
        else if (piece === '[') { open.push(null); isName = false; }
        else if (piece === '}' || piece === ']') { open.pop(); isName = false; }
        else if (piece === ',') isName = names instanceof Set;
        else if (isName && names) {
            const name = JSON.parse(piece);
            if (names.has(name)) return name;
            names.add(name);
            isName = false;
        }
    }
    return null;
}

const DATES = { exp: 'expires', nbf: 'not before', iat: 'issued', auth_time: 'signed in' };

/**
 * The dates of a token, in words.
 * @param {Record<string, any>} payload @param {number} now milliseconds since 1970
 * @returns {{name: string, what: string, date: string, words: string}[]}
 */
export function times(payload, now) {
    return Object.entries(DATES).filter(([name]) => name in payload).map(([name, what]) => {
        const value = payload[name];
        if (!isDate(value)) return { name, what, date: JSON.stringify(value), words: 'not a number of seconds' };
        return { name, what, date: new Date(value * 1000).toISOString(), words: span(value * 1000 - now) };
    });
}

/** @param {any} value */
function isDate(value) { return typeof value === 'number' && Math.abs(value) < 8.64e12; }

/** `in 14 minutes`, `3 days ago`. @param {number} duration in milliseconds, negative for the past */
export function span(duration) {
    const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
    const seconds = duration / 1000;
    /** @type {[Intl.RelativeTimeFormatUnit, number][]} */
    const units = [['year', 31_557_600], ['day', 86_400], ['hour', 3_600], ['minute', 60]];
    const [unit, size] = units.find(([, least]) => Math.abs(seconds) >= 2 * least) ?? ['second', 1];
    return words.format(Math.trunc(seconds / size), /** @type {Intl.RelativeTimeFormatUnit} */ (unit));
}

/**
 * What is odd about a token, the worst first.
 * @param {Token} token @param {number} now milliseconds since 1970
 * @returns {Lint[]}
 */
export function lints({ header, payload, signature }, now) {
    /** @type {Lint[]} */
    const found = [];
    /** @param {Lint['level']} level @param {string} rule @param {string} text */
    const say = (level, rule, text) => found.push({ level, rule, text });

    const { alg, typ, kid } = header;
    if (typeof alg !== 'string') say('bad', 'RFC 7515 §4.1.1', 'There is no alg: the signature algorithm is unknown.');
    else if (alg.toLowerCase() === 'none') say('bad', 'RFC 8725 §3.2', 'alg is none: this token is not signed.');
    else if (/^HS\d+$/.test(alg)) {
        say('warn', 'RFC 8725 §3.5', `${alg} is symmetric: everybody who can verify this token can make one, and a short secret can be guessed.`);
    }
    if (signature.length === 0 && alg !== 'none') say('bad', 'RFC 7515 §5.2', 'There is no signature.');
    for (const name of ['jku', 'x5u']) {
        if (name in header) say('bad', 'RFC 8725 §3.10', `${name} names an address to fetch a key from. A verifier that does so lets the token choose its key.`);
    }
    for (const name of ['jwk', 'x5c']) {
        if (name in header) say('warn', 'RFC 8725 §3.10', `${name} brings a key along. A verifier must not trust it because it is there.`);
    }
    if (kid !== undefined && (typeof kid !== 'string' || /[^\w.=:+-]/.test(kid))) {
        say('warn', 'RFC 8725 §3.10', 'kid has characters that mean something to file systems, databases or shells. It may only be compared.');
    }
    if ('crit' in header) say('warn', 'RFC 7515 §4.1.11', 'crit: a verifier that does not know every name in it must refuse the token.');
    if (header.b64 === false) say('bad', 'RFC 7797 §7', 'b64 is false, which no JWT may have.');
    if (typ === undefined) say('note', 'RFC 8725 §3.11', 'There is no typ: a verifier cannot tell this kind of token from others by the same issuer.');
    if (payload === null) {
        say('note', 'RFC 7519 §7.2', 'The payload is no JSON object: this is a JWS, but no JWT.');
        return sorted(found);
    }

    for (const name of ['exp', 'nbf', 'iat']) {
        if (name in payload && !isDate(payload[name])) say('bad', 'RFC 7519 §2', `${name} is not a number of seconds.`);
    }
    const { exp, nbf, iat } = payload;
    if (exp === undefined) say('bad', 'RFC 8725 §2.8, RFC 9700', 'There is no exp: a leaked token can be used forever.');
    else if (isDate(exp) && exp * 1000 <= now) say('warn', 'RFC 7519 §4.1.4', `It expired ${span(exp * 1000 - now)}.`);
    if (isDate(nbf) && nbf * 1000 > now) say('warn', 'RFC 7519 §4.1.5', `It is not good yet: ${span(nbf * 1000 - now)}.`);
    if (isDate(nbf) && isDate(exp) && nbf >= exp) say('bad', 'RFC 7519 §4.1.5', 'nbf is not before exp: it is never good.');
    if (isDate(iat) && iat * 1000 > now + 60_000) say('warn', 'RFC 7519 §4.1.6', `It was issued in the future: ${span(iat * 1000 - now)}.`);
    if (isDate(iat) && isDate(exp) && exp - iat > 86_400) {
        say('warn', 'RFC 9700 §2.2', `It lives for ${span((exp - iat) * 1000).replace('in ', '')}. A token that leaks is good for that long.`);
    }
    if (typeof payload.iss !== 'string') say('warn', 'RFC 8725 §3.8', 'There is no iss: a verifier cannot tell whose key it should be.');
    if (payload.aud === undefined) say('warn', 'RFC 8725 §3.9', 'There is no aud: a service that gets this token can use it at another one.');
    if (payload.sub === undefined) say('note', 'RFC 8725 §3.8', 'There is no sub: it says nothing about a person or a client.');
    for (const name of Object.keys(payload)) {
        if (/passw|secret|private_?key|credit|ssn$/i.test(name)) say('warn', 'RFC 7519 §12', `${JSON.stringify(name)}: everybody who sees the token can read its claims.`);
    }
    if (/"ses_[\w-]{22,}"/.test(JSON.stringify(payload))) say('warn', 'Gatehouse', 'It has a session id. A token says who calls, and a session is named beside it.');
    accessTokenLints(header, payload, say);
    return sorted(found);
}

/**
 * The rules of RFC 9068, for what calls itself an access token or looks like one.
 * @param {Record<string, any>} header @param {Record<string, any>} payload
 * @param {(level: Lint['level'], rule: string, text: string) => void} say
 */
function accessTokenLints(header, payload, say) {
    const typ = String(header.typ ?? '').toLowerCase().replace(/^application\//, '');
    const claims = typ === 'at+jwt';
    if (!claims && !('client_id' in payload && ('scope' in payload || 'scp' in payload))) return;
    if (!claims) say('note', 'RFC 9068 §2.1', 'It looks like an access token, whose typ is at+jwt.');
    for (const name of ['iss', 'exp', 'aud', 'sub', 'client_id', 'iat', 'jti']) {
        if (!(name in payload)) say(claims ? 'warn' : 'note', 'RFC 9068 §2.2', `An access token has ${name}.`);
    }
    if ('scope' in payload && typeof payload.scope !== 'string') say('warn', 'RFC 9068 §2.2.3', 'scope is one text with spaces between the scopes.');
    if ('nonce' in payload || 'at_hash' in payload) say('warn', 'RFC 9068 §4', 'It has claims of an ID token, which is not for resources.');
    if (Array.isArray(payload.aud) && payload.aud.length > 1) {
        say('note', 'RFC 9068 §3', `It is for ${payload.aud.length} audiences: each of them can use it with the others.`);
    }
}

/** @param {Lint[]} found */
function sorted(found) {
    const order = { bad: 0, warn: 1, note: 2 };
    return found.sort((a, b) => order[a.level] - order[b.level]);
}
