// @ts-check
/**
 * The ways to sign in, on any page that has their elements: `#login-form` with `#email`, `#password`, `#tenant` and
 * `#login-button`, `#providers`, `#passkey-login`, `#passkey-register` and `#login-result`.
 */

import { Refusal, canUsePasskeys, returnTarget } from '/gatehouse.js';
import { LOGIN_ERRORS, MEANINGS } from '/.gatehouse/words.js';

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** What a protected route asks of the sign-in (RFC 9470), and what is passed on to an identity provider. */
const PASSED_ON = ['max_age', 'acr_values', 'prompt', 'login_hint'];

/**
 * What the address of a sign-in page says.
 *
 * @typedef {object} Errand
 * @property {string|null} target   Where to go afterwards: a URL of this origin.
 * @property {string|null} error    Why the last attempt came to nothing: a `login_error` that is known.
 * @property {Record<string, string>} asked   What is passed on to an identity provider.
 * @property {string} search        The query without the error.
 */

/**
 * Reads the query of a sign-in page. The error may be in the query of `return_to`: a protected route sends its visitor
 * here again, with the address to which the sign-in had brought them back.
 * @param {string} search @param {string} [origin] @returns {Errand}
 */
export function readErrand(search, origin = location.origin) {
    const query = new URLSearchParams(search);
    const wish = returnTarget(search, origin);
    const target = wish ? new URL(wish) : null;
    const error = query.get('login_error') ?? target?.searchParams.get('login_error') ?? null;
    query.delete('login_error');
    if (target?.searchParams.has('login_error')) {
        target.searchParams.delete('login_error');
        query.set('return_to', target.pathname + target.search);
    }
    /** @type {Record<string, string>} */
    const asked = {};
    for (const name of PASSED_ON) {
        const value = query.get(name);
        if (value) asked[name] = value;
    }
    const rest = query.toString();
    return {
        target: target?.href ?? null,
        error: error !== null && Object.hasOwn(LOGIN_ERRORS, error) ? error : null,
        asked,
        search: rest ? `?${rest}` : '',
    };
}

/** The errand of this page. The error is taken out of the address, so that a reload does not tell it again. */
export const errand = readErrand(location.search);
if (errand.search !== location.search) history.replaceState(null, '', location.pathname + errand.search + location.hash);

/** @param {string} text @param {'good'|'bad'|''} [tone] */
export function say(text, tone = '') {
    const element = at('login-result');
    element.textContent = text;
    element.dataset.tone = tone;
}

/** The refusal in words. @param {unknown} error @returns {string} */
export function inWords(error) {
    if (!(error instanceof Refusal)) return String(error);
    return MEANINGS[error.code] ?? error.message;
}

/**
 * Shows the ways to sign in and makes them work.
 *
 * @param {import('/gatehouse.js').Gatehouse} gate
 * @param {{started: Promise<unknown>, signedIn: (answer: {how: string, session: any}, before: string|undefined) => void,
 *          refused: (error: unknown, doing: string) => void}} page
 */
export async function offerSignIn(gate, { started, signedIn, refused }) {
    if (errand.error) say(LOGIN_ERRORS[errand.error], 'bad');

    /** @param {any} button @param {string} doing @param {() => Promise<any>} job */
    const attempt = async (button, doing, job) => {
        button.disabled = true;
        say('Checking…');
        try {
            // The session that is to get an owner must be there first.
            await started;
            await job();
        } catch (error) {
            refused(error, doing);
            say(`${error instanceof Refusal ? `${error.code}: ` : ''}${inWords(error)}`, 'bad');
        } finally {
            button.disabled = false;
        }
    };

    at('login-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        attempt(at('login-button'), 'Login', async () => {
            const before = gate.session?.session_id;
            const answer = await gate.login({
                email: at('email').value, password: at('password').value, tenant: at('tenant').value.trim(),
            });
            at('password').value = '';
            signedIn(answer, before);
        });
    });

    if (canUsePasskeys()) {
        at('passkey-login').addEventListener('click', () => attempt(at('passkey-login'), 'Passkey', async () => {
            const before = gate.session?.session_id;
            signedIn(await gate.loginWithPasskey(), before);
        }));
        at('passkey-register').addEventListener('click', () => attempt(at('passkey-register'), 'Passkey', async () => {
            await gate.registerPasskey();
            say('The passkey is kept. Next time it signs you in without a password.', 'good');
        }));
        const showPasskeys = () => {
            at('passkey-login').hidden = false;
            at('passkey-register').hidden = !gate.authorized;
        };
        gate.on('token', showPasskeys);
        showPasskeys();
    }

    try {
        const { providers, password } = await gate.signInOptions();
        at('login-form').hidden = !password;
        const options = { returnTo: errand.target ?? location.pathname, ...errand.asked };
        at('providers').replaceChildren(...providers.map((provider) => {
            const link = document.createElement('a');
            link.className = 'way';
            link.href = gate.loginURL(provider, options);
            link.textContent = `Sign in with ${provider.display_name}`;
            link.dataset.provider = provider.name;
            return link;
        }));
        at('providers').hidden = providers.length === 0;
    } catch (error) {
        refused(error, 'Asking how one can sign in');
    }
}
