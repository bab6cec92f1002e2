"""The operator's console, in a real browser, against an admin listener made of answers (admin_fake.py) or a real one.

    python3 Tests/BrowserTests/admin_test.py works           # what it does
    python3 Tests/BrowserTests/admin_test.py many            # lists of up to 50,000 sessions, and an outage
    python3 Tests/BrowserTests/admin_test.py looks           # how it looks
    python3 Tests/BrowserTests/admin_test.py URL TOKEN [GATEWAY EMAIL PASSWORD]    # what works with a gateway

Exits 0 when everything is as told, 77 when there is no browser. With PAGE_SCREENSHOT=FOLDER its views are kept.
"""

import asyncio
import os
import sys

import admin_fake
import timers
from chromium import BINARY, Browser
from judges import WIDTHS, judge, keep_picture, keeps_to_itself, small, strict, window

TOKEN = admin_fake.TOKEN
VIEWS = ["overview", "sessions", "connections", "refusals", "grants", "keys", "upstreams", "configuration"]


async def opened(browser, origin, token, view="", prepare=None):
    tab = await browser.tab(f"{origin}/#token={token}", prepare)
    await tab.until("document.getElementById('ready').textContent.includes('ready')")
    if view:
        await tab.value(f"location.hash = '{view}'")
        await tab.until(f"!document.getElementById('view-{view}').hidden")
    return tab


async def takes_a_token(browser, origin, token):
    """Without one it asks; a wrong one is told in words; the one of the address leaves it, and nothing is stored."""
    tab = await browser.tab(origin + "/")
    await tab.until("!document.getElementById('entry').hidden && document.activeElement.id === 'token'")
    for wrong, words in [("nonsense", "invalid_token")] + ([("reader", "insufficient_scope")] if token == TOKEN else []):
        await tab.fill("token", wrong)
        await tab.value("document.getElementById('entry-form').requestSubmit()")
        await tab.shows("entry-error", words)
        assert await tab.value("document.getElementById('inside').hidden")
    await tab.fill("token", token)
    await tab.value("document.getElementById('entry-form').requestSubmit()")
    await tab.until("!document.getElementById('inside').hidden")
    assert await tab.value("document.getElementById('token').value") == ""
    await tab.click("forget")
    await tab.until("!document.getElementById('entry').hidden")
    assert await tab.text("entry-error") == ""
    assert not tab.faults, tab.faults
    linked = await opened(browser, origin, token)
    assert await linked.value("location.href") == origin + "/"
    stored = "document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)"
    assert await linked.value(stored) == ""
    assert all(token not in str(request["request"]["url"]) for request in linked.requests)
    await linked.reload()
    await linked.until("!document.getElementById('entry').hidden")  # it was in memory only
    for page in [tab, linked]:
        keeps_to_itself(page, origin)
        await page.close()


async def lists_fifty_thousand(browser, server):
    tab = await opened(browser, server.origin, TOKEN, "sessions")
    await tab.until("document.getElementById('sessions-count').textContent === '50,000'")
    assert await tab.value("document.querySelectorAll('#sessions-list .row').length") < 100
    assert await tab.value("document.getElementById('sessions-list').getAttribute('aria-rowcount')") == "50001"
    # From top to bottom in 200 steps: what is in sight is there after each, and steps are short.
    step = await tab.value("""(async () => {
        const list = document.getElementById('sessions-list');
        const body = list.querySelector('.rows');
        const times = [];
        for (let step = 0; step <= 200; step += 1) {
            list.scrollTop = (list.scrollHeight - list.clientHeight) * step / 200;
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            const begun = performance.now();
            const middle = list.getBoundingClientRect().top + list.clientHeight / 2;
            const seen = [...body.children].some((row) => {
                const { top, bottom } = row.getBoundingClientRect();
                return top <= middle && middle <= bottom;
            });
            if (!seen) throw new Error(`nothing in sight at step ${step}`);
            times.push(performance.now() - begun);
        }
        return times.sort((a, b) => a - b)[100];
    })()""")
    # Medians, so that other work on this machine does not count: 50,000 rows would make every step slow.
    assert step < 250, f"a step takes {step} ms"
    # The library's own work for one screen.
    median = await tab.value("""(async () => {
        const { VirtualList } = await import('/admin-list.js');
        const place = document.createElement('div');
        place.className = 'list';
        document.body.append(place);
        const list = new VirtualList(place, 'measured', [{ name: 'a', cell: (row) => String(row) }]);
        const rows = Array.from({ length: 50000 }, (_, i) => i);
        const times = [];
        for (let turn = 0; turn < 21; turn += 1) {
            const begun = performance.now();
            list.rows = rows;
            place.scrollTop = turn * 80000;
            list.draw();
            times.push(performance.now() - begun);
        }
        place.remove();
        return times.sort((a, b) => a - b)[10];
    })()""")
    assert median < 100, f"drawing takes {median} ms"
    await tab.shows("sessions-list", "ses_000000000000")
    await tab.value(
        "(() => { const f = document.getElementById('sessions-filter'); f.value = 'person49998@'; f.dispatchEvent(new Event('input')); })()")
    # Every third session has no owner, and this is one of them.
    await tab.until("document.getElementById('sessions-count').textContent === '0 of 50,000'")
    await tab.value(
        "(() => { const f = document.getElementById('sessions-filter'); f.value = 'person4999'; f.dispatchEvent(new Event('input')); })()")
    await tab.until("document.getElementById('sessions-count').textContent === '8 of 50,000'")
    rows = await tab.value("document.querySelectorAll('#sessions-list .row').length")
    assert 0 < rows < 20, rows
    return tab


async def lists_by_pages(browser):
    """A gateway that does not stream is read page by page."""
    server = admin_fake.serve(sessions=2_500, streams=False)
    tab = await opened(browser, server.origin, TOKEN, "sessions")
    await tab.until("document.getElementById('sessions-count').textContent === '2,500'")
    assert sum(1 for done in server.gateway.done if done == "GET sessions") == 3
    await tab.close()
    server.shutdown()


async def ends(tab, name):
    """Says yes, and sees a row of the list say that it has ended, which it does for some seconds."""
    await tab.value(
        f"globalThis.seen = ''; new MutationObserver(() => {{ seen += document.querySelector('#{name}-list .row.ended')?.textContent ?? ''; }})"
        f".observe(document.getElementById('{name}-list'), {{ childList: true, subtree: true }})")
    await tab.click("ask-yes")
    await tab.until("seen.includes('ended')")


async def ends_one(browser, server):
    """It is asked about first; then its row says so, and goes."""
    tab = await opened(browser, server.origin, TOKEN, "connections")
    await tab.until("document.querySelectorAll('#connections-list .row').length > 10")
    first = "document.querySelector('#connections-list .row button')"
    await tab.value(f"{first}.click()")
    await tab.until("document.getElementById('ask').open")
    assert await tab.value("document.activeElement.id") == "ask-no"
    await tab.click("ask-no")
    await tab.until("!document.getElementById('ask').open")
    assert not any(done.startswith("DELETE") for done in server.gateway.done)
    await tab.value(f"{first}.click()")
    await tab.until("document.getElementById('ask').open")
    await ends(tab, "connections")
    ended = [done for done in server.gateway.done if done.startswith("DELETE")]
    assert ended == ["DELETE connections/con_0"], ended
    await tab.until("document.getElementById('connections-count').textContent === '39'")
    assert "con_0" not in server.gateway.connections
    await tab.close()


async def tells_keys_and_upstreams(browser, server):
    """Which key signs, which one is next and which one goes, and when; which upstream is away."""
    tab = await opened(browser, server.origin, TOKEN, "keys")
    for words in ["k-2026-11", "active", "k-2026-12", "next", "k-2026-10", "retiring", "10 d ago", "in 10 min",
                  "k-2026-09", "retired", "15 min ago"]:
        await tab.shows("keys-table", words)
    await tab.value("location.hash = 'upstreams'")
    for words in ["127.0.0.1:8000", "up", "127.0.0.1:8001", "down, tried again in"]:
        await tab.shows("upstreams-table", words)
    await tab.value("location.hash = 'sessions'")
    for words in ["person1@example.com", "tenant-1", "anonymous"]:  # the owner, and none
        await tab.shows("sessions-list", words)
    await tab.close()


async def tells_why(browser, server):
    tab = await opened(browser, server.origin, TOKEN, "refusals")
    await tab.until("document.querySelectorAll('#refusals-list .row').length > 10")
    assert "undefined" not in await tab.value("document.getElementById('refusals-list').textContent")
    await tab.value("document.querySelectorAll('#refusals-list .row button')[1].click()")
    await tab.shows("why", "–")
    assert "undefined" not in await tab.value("document.getElementById('why').textContent")
    await tab.value("document.querySelector('#refusals-list .row button').click()")
    await tab.shows("why", "session_mismatch")
    await tab.shows("why", "config/gatehouse.yaml : 14 : routes[0].require")
    await tab.until("document.activeElement.id === 'why'")
    await tab.close()


async def charts_and_levels(browser, server):
    tab = await opened(browser, server.origin, TOKEN)
    await tab.shows("facts", "postgres")
    # Two readings make a rate.
    await tab.until("document.querySelector('#chart-requests figcaption').textContent.includes('2xx')")
    await tab.until("document.querySelector('#chart-latency figcaption').textContent.includes('p99')")
    await tab.shows("chart-refusals", "session_foreign")
    await tab.shows("chart-open", "sockets")
    await tab.value("document.getElementById('level-choice').value = 'debug'")
    await tab.value("document.getElementById('level-form').requestSubmit()")
    await tab.shows("level", "debug until")
    await tab.click("reload")
    await tab.shows("reloaded", "A restart is needed for: server.listen")
    await tab.close()


async def tells_an_outage(browser):
    """A gateway that goes away is told, and asked no faster than before."""
    server = admin_fake.serve(sessions=10)
    tab = await opened(browser, server.origin, TOKEN, prepare=timers.keep)
    server.shutdown()
    server.server_close()
    await tab.shows("trouble", "does not answer")
    asked = await timers.asked_for(tab, 4_999)
    assert asked == [], f"it asks faster than every five seconds: {asked}"
    assert await timers.asked_for(tab, 5_000) != [], "it does not ask again"
    await tab.close()


async def ends_what_is_real(browser, origin, token, gate, email, password):
    """A socket and a session of a gateway, ended in the console, end in the page that has them."""
    page = await browser.tab(gate + "/")
    await page.shows("session-state", "anonymous")
    await page.fill("email", email)
    await page.fill("password", password)
    await page.click("login-button")
    await page.shows("session-state", "authenticated")
    await page.click("connect")
    await page.shows("socket-state", "open")
    session = await page.text("session-id")

    tab = await opened(browser, origin, token, "connections")
    await tab.until(f"document.querySelector('#connections-list .row')?.textContent.includes('{session[:12]}')")
    await tab.value("document.querySelector('#connections-list .row button').click()")
    await tab.until("document.getElementById('ask').open")
    await ends(tab, "connections")
    await page.shows("socket-note", "4403")
    await tab.until("document.getElementById('connections-count').textContent === '0'")

    await tab.value("location.hash = 'sessions'")
    row = f"[...document.querySelectorAll('#sessions-list .row')].find((row) => row.textContent.includes('{session[:12]}'))"
    await tab.until(row)
    await tab.value(f"{row}.querySelector('button').click()")
    await tab.until("document.getElementById('ask').open")
    await ends(tab, "sessions")
    status = await page.value("fetch('/api/session/current').then((answer) => answer.status)")
    assert status in (401, 410), status
    await tab.value("location.hash = 'refusals'")
    await tab.until("document.querySelector('#refusals-list .row')")
    assert not tab.faults, tab.faults
    for view in ["keys", "grants", "upstreams"]:
        await tab.value(f"location.hash = '{view}'")
        await tab.until(f"!document.getElementById('view-{view}').hidden && "
                        f"(document.querySelector('#view-{view} td') || document.getElementById('{view}-count')?.textContent)")
    assert await tab.value("document.getElementById('trouble').hidden"), await tab.text("trouble")


async def everywhere(tab, what):
    for width in WIDTHS:
        for scheme in ["light", "dark"]:
            await window(width, scheme)(tab)
            await judge(tab, f"{what} at {width}, {scheme}", width, scheme)
            await keep_picture(tab, f"{what.replace(' ', '-')}-{width}-{scheme}")


async def looks(browser, origin, token):
    """axe-core finds nothing in any view at any width, in light and dark, nor where it asks for a token."""
    entry = await browser.tab(origin + "/")
    await entry.until("!document.getElementById('entry').hidden")
    await everywhere(entry, "console entry")
    await entry.close()
    tab = await opened(browser, origin, token)
    assert tab.errors == [], tab.errors
    if os.environ.get("PAGE_SCREENSHOT"):
        await tab.value("new Promise((resolve) => setTimeout(resolve, 90_000))", 100)  # lines take a while
    for view in VIEWS:
        await tab.value(f"location.hash = '{view}'")
        await tab.until(f"!document.getElementById('view-{view}').hidden && document.querySelector('#view-{view} :is(.row, td, dd)')")
        await everywhere(tab, f"console {view}")
        if view == "refusals":
            await tab.value("document.querySelector('#refusals-list .row button').click()")
            await tab.shows("why", "session_mismatch")
            await everywhere(tab, "console why")
        if view == "connections":
            await tab.value("document.querySelector('#connections-list .row button').click()")
            await tab.until("document.getElementById('ask').open")
            await everywhere(tab, "console question")
            await tab.click("ask-no")
    keeps_to_itself(tab, origin)
    size = small(tab, origin, "console")
    if os.environ.get("PAGE_TIMES"):
        print("console", size, "bytes, compressed")
    await strict(tab)
    await tab.close()


async def works_by_keyboard(browser, origin, token):
    """Tab reaches the parts of the console, and Enter opens one."""
    tab = await opened(browser, origin, token)
    await tab.command("Page.bringToFront")
    for _ in range(30):
        await tab.command("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        await tab.command("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        if await tab.value("document.activeElement.getAttribute('href') === '#keys'"):
            break
    await tab.command("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    await tab.command("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    await tab.until("!document.getElementById('view-keys').hidden && document.querySelector('#keys-table td')")
    await tab.close()


async def works(browser):
    few = admin_fake.serve(sessions=300)
    await takes_a_token(browser, few.origin, TOKEN)
    await works_by_keyboard(browser, few.origin, TOKEN)
    await charts_and_levels(browser, few)
    await ends_one(browser, few)
    await tells_why(browser, few)
    await tells_keys_and_upstreams(browser, few)


async def many(browser):
    await asyncio.gather(tells_an_outage(browser), lists_by_pages(browser))
    tab = await lists_fifty_thousand(browser, admin_fake.serve())
    assert not tab.faults, tab.faults


async def main(what, token=TOKEN, *account):
    async with Browser() as browser:
        if what == "works":
            await works(browser)
        elif what == "many":
            await many(browser)
        elif what == "looks":
            await looks(browser, admin_fake.serve(sessions=300).origin, token)
        else:
            origin = what.rstrip("/")
            await takes_a_token(browser, origin, token)
            await works_by_keyboard(browser, origin, token)
            if account:
                await ends_what_is_real(browser, origin, token, *account)
    print("console: all is well")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 6):
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    os.environ.pop("PAGE_ASSETS", None)  # these are the other listener’s files
    asyncio.run(main(*sys.argv[1:]))
