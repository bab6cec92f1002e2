// @ts-check
/** What the gateway's codes mean, for people. The pages share these words. */

/** What a refusal means and how to go on, by code. @type {Record<string, string>} */
export const MEANINGS = {
    invalid_request: 'The request itself was malformed, or it carried the same kind of credential twice.',
    unknown_member: 'The body has a member this endpoint does not know.',
    credentials_missing: 'No credentials were sent. Log in first.',
    credentials_swapped: 'One kind of credential was sent as another, such as a session id in place of a token.',
    session_token_unsupported: 'session_token is no longer a credential. Send an access token and a session id, or a ticket.',
    invalid_credentials: 'The credentials do not match any account. Which part of them is wrong is not disclosed.',
    invalid_token: 'The access token was not accepted. Which check failed is in the audit log.',
    token_expired: 'The access token has expired. A refresh gets a new one.',
    invalid_grant: 'The refresh token cannot be used any more. Log in again.',
    insufficient_scope: 'The token is valid, but it lacks a scope that is required here.',
    not_allowed: 'You are not allowed to use this, or your sign-in is too old or too weak for it.',
    origin_refused: 'Pages of this origin may not call the gateway.',
    session_mismatch: 'These credentials do not open that session. Whether it exists is not disclosed.',
    session_conflict: 'This session already has another owner. Log out first, then log in with a new session.',
    session_ended: 'This session has ended.',
    session_expired: 'This session was unused for too long, or has reached its maximum age.',
    identity_mismatch: 'The user or tenant named is not the one in the token.',
    login_state_invalid: 'This sign-in was begun too long ago, in another browser, or is over already. Begin again.',
    login_refused: 'The identity provider refused, or this service does not admit that account.',
    provider_unavailable: 'The identity provider could not be reached, or its answer could not be used.',
    not_found: 'There is nothing at this address.',
    method_not_allowed: 'This address does not support that method.',
    payload_too_large: 'The body is bigger than this address allows.',
    unsupported_media_type: 'Bodies must be application/json.',
    header_too_large: 'The header fields are bigger than the gateway allows.',
    bad_message: 'The bytes were not a valid HTTP message.',
    upgrade_required: 'This address accepts only WebSocket upgrades.',
    rate_limited: 'Too many requests. Wait a little, then try again.',
    overloaded: 'The gateway is busy. It will take requests again in a moment.',
    store_unavailable: 'The gateway cannot reach its store, so it refuses what it cannot check. It keeps trying.',
    upstream_unavailable: 'The service behind the gateway does not answer.',
    upstream_timeout: 'The service behind the gateway took too long.',
    // Codes of the client library.
    no_cookies: 'No cookies are set over plain http, except on localhost.',
    unreachable: 'The gateway could not be reached. Is it running?',
    passkey_declined: 'No passkey was used: it was cancelled, it took too long, or there is none for this address.',
    passkey_exists: 'This device has a passkey for this account already.',
    passkeys_unsupported: 'This browser cannot use passkeys on this address.',
};

/** Why a sign-in at an identity provider came to nothing, by the `login_error` in the address. @type {Record<string, string>} */
export const LOGIN_ERRORS = {
    login_refused:
        'You were not signed in: the identity provider refused, or this service does not admit that account.',
    provider_unavailable:
        'You were not signed in: the identity provider could not be reached, or its answer could not be used. '
        + 'Try again in a moment.',
    session_conflict: 'You were not signed in: this browser’s session belongs to another person. Sign out first.',
};

/** Why a socket closed. A reason, where there is one, says more than the code. @type {Record<string, string>} */
export const CLOSINGS = {
    token_expired: 'the access token expired and was not refreshed',
    token_revoked: 'the access token was revoked',
    session_ended: 'the session has ended',
    session_upgraded: 'the session got an owner; reconnecting with the new rights',
    1000: 'closed here',
    1001: 'the gateway is shutting down',
    1002: 'the gateway saw a protocol error',
    1005: 'closed without a code',
    1006: 'the connection broke, or the upgrade was refused (browsers do not tell which)',
    1009: 'a message was too big',
    1011: 'the gateway failed',
    1013: 'the gateway is overloaded or has lost its store; try again later',
    4401: 'the access token is no longer valid',
    4403: 'the session has ended',
    4409: 'the session changed under the socket',
};

/** A close code in words. @param {number} code @param {string} reason */
export function closing(code, reason) {
    const words = CLOSINGS[reason] ?? MEANINGS[reason] ?? CLOSINGS[code] ?? 'closed';
    return `${code}${reason ? ` ${reason}` : ''}: ${words}`;
}
