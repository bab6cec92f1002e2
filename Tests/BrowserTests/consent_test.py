"""The consent page in a real browser: from the application's link over the sign-in to the application, by keyboard.

    python3 Tests/BrowserTests/consent_test.py URL EMAIL PASSWORD

The gateway has a resource at /mcp with `offline: true`, and lets clients register themselves. Exits 0 when everything is
as told, 77 when there is no browser. With PAGE_SCREENSHOT=FOLDER it leaves pictures there.
"""

import asyncio
import base64
import hashlib
import http.server
import json
import secrets
import sys
import threading
import urllib.parse
import urllib.request

from chromium import BINARY, Browser
from judges import MOST_BYTES, WIDTHS, judge, keep_picture, keeps_to_itself, window


class Application(http.server.BaseHTTPRequestHandler):
    """Where the browser is sent at last; it keeps what it was told."""

    told = []

    def do_GET(self):
        self.told.append(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>application</title>welcome back")

    def log_message(self, *_):
        pass


def link(origin, redirect):
    """What an application opens in the browser, after it has registered itself."""
    body = json.dumps({"client_name": "Notes", "redirect_uris": [redirect]}).encode()
    request = urllib.request.Request(origin + "/oauth2/register", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        client = json.load(answer)["client_id"]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(secrets.token_urlsafe(48).encode()).digest()).decode().rstrip("=")
    return origin + "/oauth2/authorize?" + urllib.parse.urlencode({
        "response_type": "code", "client_id": client, "redirect_uri": redirect, "resource": origin + "/mcp", "state": "s",
        "code_challenge": challenge, "code_challenge_method": "S256"})


async def press(tab, key, code):
    text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
    for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
        await tab.command(
            "Input.dispatchKeyEvent", type=kind, key=key, code=key if key != " " else "Space",
            windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))


async def focused(tab):
    return await tab.value("document.activeElement.value ?? document.activeElement.tagName")


async def sign_in(browser, url, email, password):
    """The link leads to the sign-in page, and that back to the question."""
    tab = await browser.tab(url)
    await tab.until("location.pathname === '/.gatehouse/sign-in' && document.getElementById('login-button')")
    await tab.until("document.getElementById('signed-in').hidden")
    await tab.fill("email", email)
    await tab.fill("password", password)
    await tab.click("login-button")
    await tab.until("location.pathname === '/oauth2/authorize' && document.querySelector('form')")
    text = await tab.value("document.body.innerText")
    for part in ["Notes", "it has not been verified", "127.0.0.1", "Tools", "read", email]:
        assert part in text, f"{part}: {text}"
    return tab


async def fits(tab, origin):
    assert tab.errors == [], tab.errors
    keeps_to_itself(tab, origin)
    assert await tab.value("document.documentElement.outerHTML.length + performance.getEntriesByType('resource').length * 1e9") < MOST_BYTES
    for width in WIDTHS:
        for scheme in ["light", "dark"]:
            await window(width, scheme)(tab)
            await judge(tab, f"consent at {width}, {scheme}", width, scheme)
            await keep_picture(tab, f"consent-{width}-{scheme}")
    assert await tab.value("document.scripts.length") == 0
    # Nor may one be added: no text becomes a script or markup, and no address one.
    refused = await tab.value("""(() => {
        const script = document.createElement('script');
        const ways = [
            () => { script.textContent = 'globalThis.ran = 1'; },
            () => { script.src = '/gatehouse.js'; },
            () => { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.ran = 2" hidden>'); },
        ];
        return ways.filter((way) => { try { way(); } catch (error) { return error instanceof TypeError; } }).length;
    })()""")
    assert refused == 3, refused
    await tab.tells(lambda: len(tab.faults) >= 3)
    assert await tab.value("globalThis.ran ?? null") is None
    assert all("Trusted" in fault for fault in tab.faults), tab.faults
    tab.faults.clear()


async def walks(tab, count):
    """Presses Tab so often; what has had the focus."""
    seen = []
    for _ in range(count):
        await press(tab, "Tab", 9)
        seen.append(await focused(tab))
    return seen


async def decides(tab):
    """Presses Enter; what the application is told."""
    Application.told.clear()
    await press(tab, "Enter", 13)
    await tab.until("document.title === 'application'")
    return Application.told[0]


async def main(origin, email, password):
    origin = origin.rstrip("/")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = link(origin, f"http://127.0.0.1:{server.server_port}/cb")
    async with Browser() as browser:
        tab = await sign_in(browser, url, email, password)
        await fits(tab, origin)
        await tab.command("Page.bringToFront")
        assert await walks(tab, 3) == ["true", "allow", "deny"]
        told = await decides(tab)
        assert told["error"] == ["access_denied"] and told["state"] == ["s"] and told["iss"] == [origin], told
        # Asked anew, since a program on this computer is not the only one that can have its address.
        tab = await browser.tab(url)
        await tab.command("Page.bringToFront")
        await walks(tab, 1)
        await press(tab, " ", 32)
        assert await tab.value("document.querySelector('[name=offline]').checked"), "Space ticks no box"
        assert await walks(tab, 1) == ["allow"]
        told = await decides(tab)
        assert told["code"][0].startswith("code_") and told["state"] == ["s"] and told["iss"] == [origin], told
        assert not tab.faults, tab.faults
    print("consent: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
