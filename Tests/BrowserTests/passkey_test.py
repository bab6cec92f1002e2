"""Passkeys in a real browser with a virtual authenticator, against a running gateway.

    python3 Tests/BrowserTests/passkey_test.py URL EMAIL PASSWORD

URL has to be http://localhost:PORT, because WebAuthn takes no address as a relying party. The account must exist. Exits
0 when everything is as told, 77 when there is no browser.
"""

import asyncio
import sys

from chromium import BINARY, Browser

# The API as a page calls it: the session in its cookie, the access token in memory.
CLIENT = """
globalThis.call = async (method, path, body, token) => {
    const answer = await fetch(path, {
        method, body: body ? JSON.stringify(body) : undefined,
        headers: {...(body ? {"Content-Type": "application/json"} : {}), ...(token ? {Authorization: `Bearer ${token}`} : {})},
    });
    return {status: answer.status, json: answer.status === 204 ? null : await answer.json()};
};
globalThis.register = async (name) => {
    const begun = await call("POST", "/api/auth/passkey/register/begin", {}, token);
    if (begun.status !== 200) return begun;
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.json);
    const credential = await navigator.credentials.create({publicKey});
    return call("POST", "/api/auth/passkey/register/finish", {...credential.toJSON(), name}, token);
};
globalThis.signIn = async () => {
    const begun = await call("POST", "/api/auth/passkey/login/begin", {});
    if (begun.status !== 200) return begun;
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.json);
    const credential = await navigator.credentials.get({publicKey});
    globalThis.last = credential.toJSON();
    return call("POST", "/api/auth/passkey/login/finish", last);
};
"""


async def authenticator(tab):
    await tab.command("WebAuthn.enable")
    made = await tab.command("WebAuthn.addVirtualAuthenticator", options={
        "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
    })
    return made["authenticatorId"]


async def anonymous(tab):
    """Another session for this browser."""
    await tab.value("call('POST', '/api/auth/logout', {}, globalThis.token).then(() => null)")
    made = await tab.value("call('POST', '/api/session/create-anonymous', {fresh: true})")
    assert made["status"] == 200, made
    return made["json"]["session_id"]


async def story(tab, email, password):
    key = await authenticator(tab)
    before = await anonymous(tab)
    login = await tab.value(f"call('POST', '/api/auth/login', {{email: '{email}', password: '{password}'}})")
    assert login["status"] == 200 and login["json"]["session_id"] == before, login
    await tab.value(f"globalThis.token = '{login['json']['access_token']}'; null")

    registered = await tab.value("register('the browser')")
    assert registered["status"] == 201 and registered["json"]["name"] == "the browser", registered
    again = await tab.value("register('again').catch((error) => error.name)")
    assert again == "InvalidStateError", f"the authenticator took a second passkey of the account: {again}"

    session = await anonymous(tab)
    signed_in = await tab.value("signIn()")
    assert signed_in["status"] == 200, signed_in
    assert signed_in["json"]["session"] == "upgraded" and signed_in["json"]["session_id"] == session, signed_in
    assert signed_in["json"]["user_id"] == login["json"]["user_id"], signed_in
    assert "session_secret" not in signed_in["json"], "a browser gets its secrets as cookies"
    await tab.value(f"globalThis.token = '{signed_in['json']['access_token']}'; null")
    me = await tab.value("call('GET', '/api/auth/me', null, token)")
    assert me["status"] == 200 and me["json"]["email"] == email, me

    replayed = await tab.value("call('POST', '/api/auth/passkey/login/finish', last)")
    assert replayed["status"] == 401 and replayed["json"]["code"] == "invalid_credentials", replayed
    passkeys = (await tab.value("call('GET', '/api/auth/passkeys', null, token)"))["json"]["passkeys"]
    assert len(passkeys) == 1 and passkeys[0]["last_used_at"], passkeys
    return key, passkeys[0]["id"]


async def unverified(tab, key):
    """An authenticator whose owner gives no PIN."""
    await anonymous(tab)
    await tab.command("WebAuthn.setUserVerified", authenticatorId=key, isUserVerified=False)
    refused = await tab.value("signIn().catch((error) => error.name)")
    assert refused == "NotAllowedError", refused
    await tab.command("WebAuthn.setUserVerified", authenticatorId=key, isUserVerified=True)
    signed_in = await tab.value("signIn()")
    assert signed_in["status"] == 200, signed_in
    await tab.value(f"globalThis.token = '{signed_in['json']['access_token']}'; null")


async def removed(tab, passkey):
    gone = await tab.value(f"call('DELETE', '/api/auth/passkeys/{passkey}', null, token)")
    assert gone["status"] == 204, gone
    await anonymous(tab)
    refused = await tab.value("signIn()")
    assert refused["status"] == 401 and refused["json"]["code"] == "invalid_credentials", refused


async def main():
    if not BINARY:
        sys.exit(77)
    url, email, password = sys.argv[1:4]
    async with Browser() as browser:
        # A document without scripts: the page at / makes a session of its own as it loads.
        tab = await browser.tab(url + "/.well-known/jwks.json")
        await tab.until("document.readyState === 'complete' && document.body")
        await tab.until("isSecureContext && globalThis.PublicKeyCredential")
        await tab.value(CLIENT + "null")
        key, passkey = await story(tab, email, password)
        await unverified(tab, key)
        await removed(tab, passkey)
    print("passkeys: registered, signed in, refused and removed in the browser")


asyncio.run(main())
