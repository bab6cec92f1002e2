"""The page at `/`, in a real browser, against a running gateway.

    python3 Tests/BrowserTests/page_test.py URL EMAIL PASSWORD

The account must exist. Exits 0 when everything is as told, 77 when there is no browser. With PAGE_SCREENSHOT=FILE the
page is kept as a PNG, taken with a socket open.
"""

import asyncio
import base64
import os
import sys
import urllib.parse

import timers
from chromium import BINARY, Browser
from judges import judge, press, tab_to, window


async def log_in(tab, email, password):
    await tab.fill("email", email)
    await tab.fill("password", password)
    await tab.click("login-button")


async def first_load(tab):
    """One anonymous session, asked for once, and nothing in the browser's console."""
    await tab.shows("session-state", "anonymous")
    await timers.asked_for(tab, 30_000)
    made = [request["request"]["method"] for request in tab.requests
            if request.get("request", {}).get("url", "").endswith("/api/session/create-anonymous")]
    assert made == ["POST"], made
    assert tab.errors == [], tab.errors


async def anonymous_session(tab):
    assert (await tab.text("session-id")).startswith("ses_")
    await tab.click("connect")
    await tab.until("document.querySelector('#refusals [data-code=credentials_missing]')")


async def login(tab, email, password):
    before = await tab.text("session-id")
    await log_in(tab, email, "not " + password)
    await tab.shows("login-result", "invalid_credentials")
    await log_in(tab, email, password)
    await tab.shows("login-result", "upgraded")
    await tab.shows("session-state", "authenticated")
    assert await tab.text("session-id") == before, "the session id has changed"
    assert await tab.value("document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)") == ""


async def shows_exchanges(tab, password):
    """Each step shows its request, what was checked and the answer, and no secret."""
    for step, request in {
        "session": "POST /api/session/create-anonymous", "login": "POST /api/auth/login", "socket": "GET /api/runtime/agent",
        "break": "POST /api/intent",
    }.items():
        await tab.shows(f"exchanges-{step}", request)
        await tab.shows(f"exchanges-{step}", "Checked")
        await tab.shows(f"exchanges-{step}", "Answer")
    shown = await tab.value("document.querySelector('main').textContent")
    token = await tab.value("import('/gatehouse.js').then(async ({ Gatehouse }) => { const gate = new Gatehouse();"
                            "await gate.start(); return gate.accessToken; })")
    assert token and token.split(".")[1] not in shown, "a token is shown"
    assert password not in shown, shown[shown.find(password) - 200:][:400]


async def is_readable(tab):
    """With all that it shows by now, too, on a phone as on a desktop, in light and dark."""
    await tab.value("for (const one of document.querySelectorAll('details')) one.open = true")
    for width in [360, 1280]:
        for scheme in ["light", "dark"]:
            await window(width, scheme)(tab)
            await judge(tab, f"the page after all its steps at {width}, {scheme}", width, scheme)


async def by_keyboard(tab, email, password):
    """The login and the socket, without a mouse."""
    await tab.command("Page.bringToFront")
    for field, text in [("email", email), ("password", password)]:
        await tab_to(tab, f"document.activeElement.id === '{field}'")
        await tab.command("Input.insertText", text=text)
    await press(tab, "Enter")
    await tab.shows("session-state", "authenticated")
    await tab_to(tab, "document.activeElement.id === 'connect'")
    await press(tab, "Enter")
    await tab.shows("socket-state", "open")
    await tab_to(tab, "document.activeElement.dataset.attempt === 'unknown'")
    await press(tab, "Enter")
    await tab.until("document.querySelector('#refusals [data-code=session_mismatch]')")
    await tab.click("logout")
    await tab.shows("session-state", "anonymous")


async def comes_back(browser, url, email, password):
    """`return_to` is followed after a login where it is a path of this origin, and otherwise not."""
    origin = url.rstrip("/")
    for wish, target in {
        "/api/session/current?a=b": origin + "/api/session/current?a=b",
        "/.//evil.example/login": None, "//evil.example/": None, "/\\evil.example/": None, "/%2e//evil.example/": None,
        "/\t/evil.example/": None, "https://evil.example/": None,
    }.items():
        tab = await browser.tab(f"{origin}/?return_to={urllib.parse.quote(wish, safe='')}")
        await tab.until("document.getElementById('session-state').textContent.match(/anonymous|authenticated/)")
        await tab.value(
            "globalThis.gone = []; navigation.addEventListener('navigate', "
            "(event) => { gone.push(event.destination.url); event.preventDefault(); })")
        await log_in(tab, email, password)
        # The page leaves, if it does, in the same turn in which it says how the login went.
        await tab.until("document.getElementById('login-result').textContent.match(/upgraded|resumed/)")
        gone = await tab.value("gone")
        assert gone == ([target] if target else []), f"{wish!r} led to {gone}"
        if not target:
            assert await tab.value("location.origin + location.pathname") == origin + "/"
        await tab.close()


async def socket(tab):
    await tab.click("connect")
    await tab.shows("socket-state", "open")
    seen = await tab.value("Math.max(0, ...[...document.querySelectorAll('#events [data-seq]')].map(e => +e.dataset.seq))")
    await tab.fill("intent-input", 'echo {"hello": "browser"}')
    await tab.click("send")
    await tab.until(f"""document.querySelector('#events [data-seq="{seen + 1}"]')?.textContent.includes('browser')""")


async def refusals(tab):
    expected = {
        "none": "credentials_missing", "token-only": "credentials_missing", "foreign": "session_mismatch",
        "unknown": "session_mismatch", "swapped": "credentials_swapped", "altered": "invalid_token",
        "twice": "invalid_request",
    }
    for attempt, code in expected.items():
        await tab.click("clear-refusals")
        await tab.value(f"document.querySelector('[data-attempt={attempt}]').click()")
        await tab.until(f"document.querySelector('#refusals [data-code={code}]')")
        await tab.shows("attempt-note", "closed")


async def keep_picture(tab):
    path = os.environ.get("PAGE_SCREENSHOT")
    if not path:
        return
    picture = await tab.command("Page.captureScreenshot", captureBeyondViewport=True)
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture["data"]))


async def reload(tab):
    before = await tab.text("session-id")
    await tab.reload()
    await tab.shows("token-state", "in memory")
    assert await tab.text("session-id") == before
    await tab.click("connect")
    await tab.until("document.querySelector('#events [data-seq]')?.textContent")


async def second_tab(browser, tab, url):
    other = await browser.tab(url)
    await other.shows("session-state", "authenticated")
    await other.shows("token-state", "in memory")
    assert await other.text("session-id") == await tab.text("session-id")
    await other.click("connect")
    await other.shows("socket-state", "open")
    await other.click("refresh")
    await tab.shows("socket-state", "open")
    return other


async def logout(tab, other):
    before = await tab.text("session-id")
    await tab.click("logout")
    await tab.shows("socket-note", "session_ended")
    await tab.shows("session-state", "anonymous")
    assert await tab.text("session-id") != before, "the ended session came back"
    await other.shows("session-state", "anonymous")
    await other.until("document.getElementById('socket-state').textContent !== 'open'")
    assert await other.text("session-id") == await tab.text("session-id"), "two tabs, two sessions"


async def main(url, email, password):
    async with Browser() as browser:
        tab = await browser.tab(url, timers.keep)
        await first_load(tab)
        await anonymous_session(tab)
        await login(tab, email, password)
        await socket(tab)
        await keep_picture(tab)
        await refusals(tab)
        await shows_exchanges(tab, password)
        await is_readable(tab)
        await reload(tab)
        other = await second_tab(browser, tab, url)
        await logout(tab, other)
        await other.close()
        await tab.click("clear-refusals")
        await by_keyboard(tab, email, password)
        await comes_back(browser, url, email, password)
        assert not tab.faults + other.faults, f"the page has faults: {tab.faults + other.faults}"
    print("page: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
