"""The sign-in page, in a real browser, against a running gateway.

    python3 Tests/BrowserTests/sign_in_test.py URL EMAIL PASSWORD

The account must exist. The list of identity providers is the test's own. Exits 0 when everything is as told, 77 when
there is no browser.
"""

import asyncio
import sys
import urllib.parse

from chromium import BINARY, Browser
from judges import judge, window

KEYCLOAK = {"name": "kc", "display_name": "Keycloak <b>here</b>", "login_url": "/api/auth/login/kc"}
GITHUB = {"name": "github", "display_name": "GitHub", "login_url": "/api/auth/login/github"}
PAGE = "/.gatehouse/sign-in"


def offering(providers, password=True):
    return lambda tab: tab.can("/api/auth/providers", {"providers": providers, "password": password})


async def open_page(browser, origin, query, providers=(KEYCLOAK, GITHUB), password=True, page=PAGE):
    tab = await browser.tab(origin + page + query, offering(list(providers), password))
    await tab.until("document.getElementById('providers').children.length == %d" % len(providers))
    return tab


async def links(tab):
    return await tab.value("[...document.querySelectorAll('#providers a')].map((a) => [a.textContent, a.href])")


def way(origin, name, **query):
    return f"{origin}/api/auth/login/{name}?" + urllib.parse.urlencode(query)


async def offers_providers(browser, origin):
    """Each is a link that brings the person back; what a route asks of the sign-in is passed on."""
    tab = await open_page(browser, origin, "?return_to=%2Forders%3Fa%3Db&max_age=60&acr_values=gold&other=x")
    asked = {"return_to": "/orders?a=b", "max_age": "60", "acr_values": "gold"}
    assert await links(tab) == [
        ["Sign in with Keycloak <b>here</b>", way(origin, "kc", **asked)],
        ["Sign in with GitHub", way(origin, "github", **asked)],
    ]
    assert await tab.value("document.querySelectorAll('#providers b').length") == 0
    await tab.shows("errand", "/orders")
    assert not await tab.value("document.getElementById('login-form').hidden")

    tab = await open_page(browser, origin, "")
    assert (await links(tab))[0][1] == way(origin, "kc", return_to=PAGE)

    tab = await open_page(browser, origin, "", [KEYCLOAK], password=False)
    await tab.until("document.getElementById('login-form').hidden")


async def tells_errors(browser, origin):
    """`login_error` in words, wherever it is, and then gone from the address; what is not known is not repeated."""
    for query, words, left in [
        ("?login_error=login_refused&return_to=%2Forders", "provider refused", "?return_to=%2Forders"),
        ("?login_error=provider_unavailable", "could not be reached", ""),
        ("?login_error=session_conflict", "another person", ""),
        ("?return_to=%2Forders%3Fx%3D1%26login_error%3Dlogin_refused", "provider refused", "?return_to=%2Forders%3Fx%3D1"),
        ("?login_error=%3Cimg%20src%3Dx%3E", None, ""), ("?login_error=constructor", None, ""),
    ]:
        tab = await open_page(browser, origin, query)
        result = await tab.text("login-result")
        assert (words in result) if words else result == "", f"{query}: {result!r}"
        assert await tab.value("location.search") == left, await tab.value("location.search")
        assert all("login_error" not in link for _, link in await links(tab))
    tab = await open_page(browser, origin, "?login_error=login_refused", page="/")
    await tab.shows("login-result", "provider refused")
    assert await tab.value("location.href") == origin + "/"


async def stays_here(browser, origin):
    """A `return_to` that leads elsewhere counts as none."""
    for wish in ["//evil.example/", "https://evil.example/", "/\\evil.example/", "/.//evil.example/", "javascript:1"]:
        tab = await open_page(browser, origin, "?return_to=" + urllib.parse.quote(wish, safe=""))
        assert (await links(tab))[0][1] == way(origin, "kc", return_to=PAGE), wish
        assert await tab.value("document.getElementById('continue').getAttribute('href')") is None
        await tab.close()


async def works_by_keyboard(browser, origin):
    tab = await open_page(browser, origin, "")
    await tab.until("document.getElementById('passkey-login').hidden === false")
    await tab.command("Page.bringToFront")
    seen = []
    for _ in range(7):
        for kind in ("rawKeyDown", "keyUp"):
            await tab.command("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        seen.append(await tab.value("document.activeElement.dataset.provider ?? document.activeElement.id"))
    assert seen == ["kc", "github", "passkey-login", "email", "password", "tenant", "login-button"], seen


async def sent_by_the_library(browser, origin, email, password):
    """`Auth` leads a page's visitor to the sign-in, and from there back to the page, in the same session."""
    tab = await browser.tab(origin + "/inspect?a=b", offering([KEYCLOAK]))
    before = await tab.value("""import('/gatehouse.js').then(async ({ Auth, Gatehouse }) => {
        const gate = new Gatehouse();
        const { session_id: id } = await gate.start();
        setTimeout(() => new Auth(gate).goToSignIn());
        return id;
    })""")
    await tab.until(f"location.pathname === '{PAGE}' && document.getElementById('providers')?.children.length === 1")
    await tab.fill("email", email)
    await tab.fill("password", password)
    await tab.click("login-button")
    await tab.until("location.pathname + location.search === '/inspect?a=b' && document.readyState === 'complete'")
    session = await tab.value("fetch('/api/session/current').then((a) => a.json())")
    assert session["session_id"] == before and session["state"] == "authenticated", session
    await tab.value("fetch('/api/auth/logout', { method: 'POST' }).then((a) => a.status)")
    await tab.close()


async def brings_back(browser, origin, email, password):
    tab = await open_page(browser, origin, "?return_to=%2Fapi%2Fsession%2Fcurrent%3Fa%3Db")
    await tab.until("document.getElementById('signed-in').hidden")
    await tab.fill("email", email)
    await tab.fill("password", password)
    await tab.click("login-button")
    await tab.until("location.pathname == '/api/session/current' && location.search == '?a=b'")
    await tab.until("document.body.innerText.includes('\"authenticated\"')")
    # Signed in already: the page does not go on by itself, or a target that refuses would send back and forth.
    tab = await open_page(browser, origin, "?return_to=%2Fapi%2Fsession%2Fcurrent")
    await tab.until("!document.getElementById('signed-in').hidden && document.getElementById('ways').hidden")
    assert await tab.value("document.getElementById('continue').href") == origin + "/api/session/current"
    for width in [360, 1280]:
        for scheme in ["light", "dark"]:
            await window(width, scheme)(tab)
            await judge(tab, f"the sign-in page, signed in, at {width}, {scheme}", width, scheme)
    # A route that wants a newer sign-in gets one.
    tab = await open_page(browser, origin, "?return_to=%2Forders&max_age=60")
    await tab.until("!document.getElementById('signed-in').hidden")
    assert await tab.value("!document.getElementById('ways').hidden && document.getElementById('continue').hidden")
    await tab.click("logout")
    await tab.shows("login-result", "signed out")
    await tab.until("document.getElementById('signed-in').hidden")


async def passkeys(browser, origin, email, password):
    """Registered while signed in, by the page's button; then it signs in, and the session keeps its id."""
    # Passkeys are for a name: on loopback for `localhost`.
    tab = await browser.tab(origin.replace("127.0.0.1", "localhost") + PAGE)
    await tab.command("WebAuthn.enable")
    await tab.command("WebAuthn.addVirtualAuthenticator", options={
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True})
    await tab.until("!document.getElementById('passkey-login').hidden")
    await tab.click("passkey-login")
    await tab.shows("login-result", "No passkey was used")
    assert await tab.value("document.getElementById('passkey-register').hidden")
    await tab.fill("email", email)
    await tab.fill("password", password)
    await tab.click("login-button")
    await tab.until("!document.getElementById('passkey-register').hidden")
    await tab.click("passkey-register")
    await tab.shows("login-result", "The passkey is kept")
    owner = await tab.text("owner")
    await tab.click("passkey-register")
    await tab.shows("login-result", "has a passkey for this account already")
    await tab.click("logout")
    await tab.shows("login-result", "signed out")
    await tab.until("!document.getElementById('ways').hidden")
    before = await tab.value("fetch('/api/session/current').then((a) => a.json()).then((s) => s.session_id)")
    await tab.click("passkey-login")
    await tab.shows("login-result", "You are signed in")
    assert await tab.text("owner") == owner
    after = await tab.value("fetch('/api/session/current').then((a) => a.json())")
    assert after["session_id"] == before and after["state"] == "authenticated", after
    await tab.click("logout")
    await tab.shows("login-result", "signed out")
    assert not tab.faults, tab.faults


async def main(url, email, password):
    origin = url.rstrip("/")
    async with Browser() as browser:
        await offers_providers(browser, origin)
        await tells_errors(browser, origin)
        await stays_here(browser, origin)
        await works_by_keyboard(browser, origin)
        await sent_by_the_library(browser, origin, email, password)
        await brings_back(browser, origin, email, password)
        await passkeys(browser, origin, email, password)
    print("sign-in: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
