// @ts-check
/** The sign-in page: routes send their visitors here (`login_url`), and it brings them back where they were. */

import { Gatehouse } from '/gatehouse.js';
import { errand, inWords, offerSignIn, say } from '/.gatehouse/sign-in.js';

const gate = new Gatehouse();
/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** Whether the visitor must sign in once more, although a user is signed in (`fresh` and `acr` of a route). */
const again = 'max_age' in errand.asked || 'acr_values' in errand.asked;

function show() {
    const owner = gate.session?.state === 'authenticated' ? gate.session.user_id : null;
    at('signed-in').hidden = owner === null;
    at('owner').textContent = owner ?? '';
    at('ways').hidden = owner !== null && !again;
    at('title').textContent = owner !== null && !again ? 'You are signed in' : 'Sign in';
}

if (errand.target) {
    const { pathname } = new URL(errand.target);
    at('errand').textContent = again
        ? `To go on to ${pathname}, sign in once more.`
        : `You will be brought back to ${pathname}.`;
    at('errand').hidden = false;
    at('continue').href = errand.target;
    at('continue').hidden = again;
}

gate.on('session', show);
at('logout').addEventListener('click', () => gate.logout()
    .then(() => gate.start())
    .then(() => say('You are signed out.'))
    .catch((error) => say(inWords(error), 'bad')));

const started = gate.start().catch((error) => say(inWords(error), 'bad')).then(show);
await offerSignIn(gate, {
    started,
    signedIn: () => {
        say('You are signed in.', 'good');
        if (errand.target) location.replace(errand.target);
    },
    refused: () => {},
});
await started;
