"""Signing in at a real identity provider from the gateway's pages, in a real browser.

    python3 Tests/BrowserTests/provider_test.py URL

The gateway must offer oidc-provider-mock as its only provider, and let in ada@ and bob@example.com alone. Exits 0 when
everything is as told, 77 when there is no browser.
"""

import asyncio
import sys

from chromium import BINARY, Browser


async def decide(tab, person):
    """What the person does on the provider's page."""
    await tab.until("document.querySelector('input[name=sub]')")
    await tab.value(
        f"(() => {{ const sub = document.querySelector('input[name=sub]'); sub.value = '{person}';"
        "sub.form.querySelector('button:not([value=deny])').click(); })()")


SESSION = "fetch('/api/session/current').then((a) => a.json())"


async def main(url):
    origin = url.rstrip("/")
    async with Browser() as browser:
        # A user whom the gateway does not let in: back on the page, with a message and the session they had.
        tab = await browser.tab(origin + "/")
        await tab.shows("session-state", "anonymous")
        visitor = await tab.text("session-id")
        await tab.until("document.querySelector('#providers a')")
        await tab.value("document.querySelector('#providers a').click()")
        await decide(tab, "eve@example.com")
        await tab.shows("login-result", "provider refused")
        assert await tab.value("location.href") == origin + "/"
        assert (await tab.value(SESSION))["session_id"] == visitor

        # Yes, and sent by the library: the same session, now with an owner, and an access token without a password.
        await tab.value("import('/gatehouse.js').then(({ Auth, Gatehouse }) => "
                        "{ setTimeout(() => new Auth(new Gatehouse()).loginWith('mock', { returnTo: '/' })); return 1; })")
        await decide(tab, "ada@example.com")
        await tab.shows("token-state", "in memory")
        session = await tab.value(SESSION)
        assert session["session_id"] == visitor and session["state"] == "authenticated", session
        await tab.click("connect")
        await tab.shows("socket-state", "open")

        # From the sign-in page to where a route sent its visitor from.
        # The first page is left: without its cookies it would make a session of its own for all tabs.
        await tab.command("Page.navigate", url=origin + "/.well-known/jwks.json")
        await tab.until("location.pathname === '/.well-known/jwks.json' && document.readyState === 'complete'")
        await tab.command("Network.clearBrowserCookies")
        other = await browser.tab(origin + "/.gatehouse/sign-in?return_to=%2Fapi%2Fsession%2Fcurrent%3Fa%3Db")
        await other.until("document.querySelector('#providers a')")
        await other.value("document.querySelector('#providers a').click()")
        await decide(other, "bob@example.com")
        await other.until("location.pathname + location.search === '/api/session/current?a=b'")
        await other.until("document.body.innerText.includes('\"authenticated\"')")
        assert not [fault for fault in tab.faults + other.faults if "127.0.0.1:" not in fault], tab.faults
    print("provider: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(sys.argv[1]))
