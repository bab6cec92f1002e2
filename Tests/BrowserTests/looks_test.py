"""How the pages look, from a small phone to 4K, in light and dark, in a real browser against a running gateway.

    python3 Tests/BrowserTests/looks_test.py URL [CONSOLE]

Exits 0 when everything is as told, 77 when there is no browser. With PAGE_SCREENSHOT=FOLDER it leaves pictures there. With
PAGE_TIMES=1 it tells how long first paints took, for a quiet moment on a machine; no test rests on that. With CONSOLE, the
address of an admin listener, it tells that of the console, too.
"""

import asyncio
import os
import sys

from chromium import BINARY, Browser
from judges import (
    WIDTHS, judge, keep_picture, keeps_to_itself, reached_by_keyboard, small, strict, window)

PAGES = ["/", "/.gatehouse/sign-in", "/inspect"]
#: Two providers, one with a name that is markup.
PROVIDERS = {"password": True, "providers": [
    {"name": "kc", "display_name": "Keycloak <b>here</b>", "login_url": "/api/auth/login/kc"},
    {"name": "github", "display_name": "GitHub", "login_url": "/api/auth/login/github"}]}


async def fits(browser, origin, page):
    """axe-core finds nothing, a keyboard reaches everything, the browser's console is empty, the page is no wider than its
    window, keeps to its origin and its policy, and is small."""
    async def prepare(tab):
        await tab.can("/api/auth/providers", PROVIDERS)

    tab = await browser.tab(origin + page, prepare)
    await tab.until("document.readyState == 'complete' && document.getElementById('main')")
    await tab.until("(document.getElementById('providers')?.children.length ?? 2) == 2")
    assert tab.errors == [], f"{page}: {tab.errors}"
    await reached_by_keyboard(tab, page)
    for width in WIDTHS:
        for scheme in ["light", "dark"]:
            await window(width, scheme)(tab)
            await judge(tab, f"{page} at {width}, {scheme}", width, scheme)
            await keep_picture(tab, f"{page.strip('/').replace('/', '-').replace('.gatehouse-', '') or 'page'}-{width}-{scheme}")
    keeps_to_itself(tab, origin)
    size = small(tab, origin, page)
    if os.environ.get("PAGE_TIMES"):
        print(page, size, "bytes, compressed")
    await strict(tab)
    await tab.close()


async def first_paints(browser, origin, page):
    """How long after it was asked for a page is painted first: nothing of it is in the cache, and the tab is there."""
    times = []
    tab = await browser.tab(origin + page)
    for _ in range(9):
        await tab.reload()
        await tab.until("performance.getEntriesByName('first-contentful-paint').length")
        times.append(await tab.value("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    await tab.close()
    print(origin + page, "first paint, ms:", *[round(time) for time in sorted(times)])


async def main(url, console=None):
    origin = url.rstrip("/")
    async with Browser() as browser:
        if console:
            await first_paints(browser, console.rstrip("/"), "/")
        for page in PAGES:
            await fits(browser, origin, page)
            if os.environ.get("PAGE_TIMES"):
                await first_paints(browser, origin, page)
    print("looks: all is well")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
