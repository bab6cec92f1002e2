// Verifies the gateway's assertion (X-Gatehouse-Assertion) with node:crypto.
import { createPublicKey, verify } from 'node:crypto';

/** How an algorithm's signature is verified. What is not here is not accepted, `none` and HMAC among it. */
const ALGORITHMS = {
    ES256: { kty: 'EC', crv: 'P-256', hash: 'sha256' },
    ES384: { kty: 'EC', crv: 'P-384', hash: 'sha384' },
    Ed25519: { kty: 'OKP', crv: 'Ed25519', hash: null },
    EdDSA: { kty: 'OKP', crv: 'Ed25519', hash: null },
};
const SKEW = 30; // seconds

export class NotAsserted extends Error {}

/** A verifier for one audience: the route's `audience`, which is its `path` unless the configuration says otherwise. */
export class AssertionVerifier {
    #issuer; #audience; #fetch; #now;
    #keys = new Map();
    #fetchedAt = 0;
    #fetching = null;

    constructor({ issuer, audience, fetch: get = fetch, now = () => Date.now() / 1000 }) {
        this.#issuer = issuer;
        this.#audience = audience;
        this.#fetch = get;
        this.#now = now;
    }

    /** The claims of a good assertion; throws {@link NotAsserted} for every other. */
    async verify(assertion) {
        if (typeof assertion !== 'string' || assertion.length > 16_384) throw new NotAsserted('there is no assertion');
        const parts = assertion.split('.');
        if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))) throw new NotAsserted('it is no JWT');
        const header = readObject(parts[0]);
        // An access token is signed with the same key: the type tells them apart.
        if (header.typ !== 'gatehouse-assertion+jwt') throw new NotAsserted('it is another kind of token');
        if (header.crit !== undefined) throw new NotAsserted('it has a critical extension');
        if (!Object.hasOwn(ALGORITHMS, header.alg)) throw new NotAsserted('its algorithm is not accepted');
        const { kty, crv, hash } = ALGORITHMS[header.alg];
        const jwk = await this.#key(header.kid);
        if (jwk.kty !== kty || jwk.crv !== crv) throw new NotAsserted('its algorithm is not that of its key');
        const key = createPublicKey({ key: jwk, format: 'jwk' });
        const signature = Buffer.from(parts[2], 'base64url');
        const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
        const isGood = verify(hash, signed, hash ? { key, dsaEncoding: 'ieee-p1363' } : key, signature);
        if (!isGood) throw new NotAsserted('its signature is wrong');

        const claims = readObject(parts[1]);
        const now = this.#now();
        if (claims.iss !== this.#issuer) throw new NotAsserted('it is of another issuer');
        if (![claims.aud].flat().includes(this.#audience)) throw new NotAsserted('it is for another audience');
        if (!(claims.exp > now - SKEW)) throw new NotAsserted('it has expired');
        if (!(claims.iat < now + SKEW)) throw new NotAsserted('it is from the future');
        return claims;
    }

    /** The key of a kid. An unknown one fetches the keys again, but not more than once in ten seconds. */
    async #key(kid) {
        if (typeof kid !== 'string') throw new NotAsserted('it names no key');
        if (!this.#keys.has(kid) && this.#now() - this.#fetchedAt > 10) {
            this.#fetching ??= this.#load().finally(() => { this.#fetching = null; });
            await this.#fetching;
        }
        const jwk = this.#keys.get(kid);
        if (!jwk) throw new NotAsserted('its key is not the gateway’s');
        return jwk;
    }

    async #load() {
        const answer = await this.#fetch(new URL('/.well-known/jwks.json', this.#issuer), { redirect: 'error' });
        if (!answer.ok) throw new Error(`the gateway’s keys: status ${answer.status}`);
        const { keys } = await answer.json();
        this.#fetchedAt = this.#now();
        this.#keys = new Map(keys.filter((key) => key.use !== 'enc').map((key) => [key.kid, key]));
    }
}

function readObject(part) {
    let value;
    try { value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8')); } catch { /* told below */ }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new NotAsserted('it is no JWT');
    return value;
}
