"""Pictures of every page, in light and dark, on desktop and phone; the ones that README and docs show are kept with them.

    python3 Tests/BrowserTests/screenshots.py GATEHOUSE FOLDER

GATEHOUSE is the program. The console's numbers are those of admin_fake.py.
"""

import asyncio
import base64
import os
import pathlib
import signal
import sys
import tempfile

import admin_fake
from chromium import BINARY, Browser
from client_test import EMAIL, PASSWORD, Gateway
from consent_test import link
from judges import window
from palette import indexed

SIZES = {"desktop": (1280, 800), "phone": (360, 800)}
#: What README and docs show.
KEPT = {f"{page}-desktop-{scheme}": f"{page}-{scheme}" for page in ["page", "inspect", "console-overview"] for scheme in ["light", "dark"]}
IMAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/images"
#: What an application asks for, so that there is a consent page.
RESOURCE = ", {path: /mcp, upstream: 'http://127.0.0.1:9', resource: {name: Tools, scopes: [read, write], offline: true}, scopes: [read]}"
#: The most bytes of a picture in the repository.
MOST = 60 * 1024


async def pictures(tab, folder, page, of=None):
    """`of`: the element that is to be seen, in place of the top of the page."""
    for size, (width, height) in SIZES.items():
        for scheme in ["light", "dark"]:
            await window(width, scheme, height)(tab)
            place = f"document.getElementById('{of}').scrollIntoView()" if of else "scrollTo(0, 0)"
            await tab.value("document.querySelector('nav [aria-current]')?.scrollIntoView({ inline: 'nearest' });"
                            f"{place}; new Promise((resolve) => setTimeout(resolve, 150))")
            answer = await tab.command("Page.captureScreenshot", optimizeForSpeed=False)
            data = base64.b64decode(answer["data"])
            name = f"{page}-{size}-{scheme}"
            (folder / f"{name}.png").write_bytes(data)
            if name in KEPT:
                data = indexed(data)
                if len(data) > MOST:
                    sys.exit(f"{name}: {len(data)} bytes, and {MOST} are the most that the repository takes")
                IMAGES.mkdir(exist_ok=True)
                (IMAGES / f"{KEPT[name]}.png").write_bytes(data)


async def public_pages(browser, gateway, folder):
    tab = await browser.tab(gateway.origin + "/")
    await tab.shows("session-state", "anonymous")
    await pictures(tab, folder, "page-before")
    await window(1280, "light")(tab)
    await tab.fill("email", EMAIL)
    await tab.fill("password", PASSWORD)
    await tab.click("login-button")
    await tab.shows("session-state", "authenticated")
    await tab.click("connect")
    await tab.shows("socket-state", "open")
    await tab.click("send")
    await tab.until("document.querySelector('#events [data-seq]')")
    await tab.value("document.querySelector('[data-attempt=foreign]').click()")
    await tab.until("document.querySelector('#refusals [data-code=session_mismatch]')")
    await pictures(tab, folder, "page")
    token = await tab.value("import('/gatehouse.js').then(async ({ Gatehouse }) => { const gate = new Gatehouse();"
                            "await gate.start(); return gate.accessToken; })")
    consent = await browser.tab(link(gateway.origin, "http://127.0.0.1:9/callback"))
    await consent.until("document.querySelector('form')")
    await pictures(consent, folder, "consent")
    sign_in = await browser.tab(gateway.origin + "/.gatehouse/sign-in?return_to=/orders", prepare=signed_out)
    await sign_in.until("!document.getElementById('ways')?.hidden && !document.getElementById('providers')?.hidden")
    await pictures(sign_in, folder, "sign-in")
    inspect = await browser.tab(f"{gateway.origin}/inspect#{token}")
    await inspect.shows("verdict", "The signature is good")
    await pictures(inspect, folder, "inspect")


async def signed_out(tab):
    """Two providers, and no user who is signed in."""
    await tab.command("Network.clearBrowserCookies")
    await tab.can("/api/auth/providers", {"password": True, "providers": [
        {"name": "kc", "display_name": "Keycloak", "login_url": "/api/auth/login/kc"},
        {"name": "github", "display_name": "GitHub", "login_url": "/api/auth/login/github"}]})


async def console(browser, folder):
    server = admin_fake.serve(sessions=50_000)
    entry = await browser.tab(server.origin + "/")
    await entry.until("!document.getElementById('entry').hidden")
    await pictures(entry, folder, "console-entry")
    tab = await browser.tab(f"{server.origin}/#token={admin_fake.TOKEN}")
    await tab.until("document.getElementById('ready').textContent === 'ready'")
    await tab.value("new Promise((resolve) => setTimeout(resolve, 150_000))", 200)  # lines take a while
    await pictures(tab, folder, "console-overview")
    for view in ["sessions", "connections", "refusals", "grants", "keys", "upstreams", "configuration"]:
        await tab.value(f"location.hash = '{view}'")
        await tab.until(f"document.querySelector('#view-{view} :is(.row, td)')")
        await pictures(tab, folder, f"console-{view}")
        if view == "refusals":
            await tab.value("document.querySelector('#refusals-list .row button').click()")
            await tab.until("!document.getElementById('why').hidden")
            await pictures(tab, folder, "console-why", of="why")
        if view == "connections":
            await tab.value("document.querySelector('#connections-list .row button').click()")
            await tab.until("document.getElementById('ask').open")
            await pictures(tab, folder, "console-question")
            await tab.click("ask-no")


async def main(program, target):
    folder = pathlib.Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    async with Browser("--hide-scrollbars") as browser:
        with tempfile.TemporaryDirectory() as place:
            gateway = Gateway(os.path.abspath(program), place, "clients: {registration: true}\n", RESOURCE)
            gateway.start()
            try:
                await public_pages(browser, gateway, folder)
            finally:
                gateway.stop(signal.SIGKILL)
        os.environ.pop("PAGE_ASSETS", None)
        await console(browser, folder)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if BINARY is None:
        sys.exit("there is no chromium")
    asyncio.run(main(*sys.argv[1:]))
