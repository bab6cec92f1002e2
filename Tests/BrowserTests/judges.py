"""What every page is held to: axe-core, no fault of its policy, no wider than its window, small, and keeping to itself."""

import base64
import gzip
import importlib.util
import os
import pathlib
import urllib.parse
import urllib.request

from assets import PUBLIC

#: Widths of windows, in CSS pixels: a small phone, a desktop, 4K.
WIDTHS = [360, 1280, 3840]
#: The most bytes that a page and all its parts may have, compressed.
MOST_BYTES = 60 * 1024


def axe():
    """axe-core, which the package axe_core_python brings along; None without it."""
    found = importlib.util.find_spec("axe_core_python")
    return pathlib.Path(found.origin).with_name("axe.min.js").read_text() if found else None


def window(width, scheme, height=800):
    """Prepares a tab: its window, and light or dark."""
    async def prepare(tab):
        await tab.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        await tab.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        await tab.until(f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {scheme})').matches")
    return prepare


async def judge(tab, what, width, scheme="light"):
    """The page is no wider than its window, nothing went against its policy, and axe-core finds nothing: by all its rules in
    light, by those about colours, which is all that changes, in dark; and not where it is as wide as 4K, where nothing is
    arranged anew."""
    wide = await tab.value(
        "[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && "
        "!e.closest('.list, .wide-table, pre, nav, .quietly')).slice(0, 3).map((e) => e.outerHTML.slice(0, 120))")
    assert await tab.value("document.documentElement.scrollWidth <= innerWidth"), f"{what} is too wide: {wide}"
    script = axe() if width < 3840 else None
    if script:
        if not await tab.value("'axe' in globalThis"):
            await tab.command("Runtime.evaluate", expression=script)
        rules = ", runOnly: ['color-contrast', 'link-in-text-block']" if scheme == "dark" else ""
        found = await tab.value(
            "axe.run({ resultTypes: ['violations']" + rules + " })"
            ".then((r) => r.violations.map((v) => [v.id, ...v.nodes.map((n) => String(n.target))]))")
        assert found == [], f"{what}: {found}"
    assert not tab.faults, f"{what}: {tab.faults}"


def keeps_to_itself(tab, origin):
    """Every request went to the page's own origin."""
    for request in tab.requests:
        url = request.get("request", request)["url"]
        host = urllib.parse.urlsplit(url)
        assert url.startswith("data:") or host.netloc == urllib.parse.urlsplit(origin).netloc, url


def small(tab, origin, what):
    """The page and the files it asked for, compressed, are no more than MOST_BYTES."""
    paths = set()
    for request in tab.requests:
        url = urllib.parse.urlsplit(request.get("request", request)["url"])
        if url.netloc == urllib.parse.urlsplit(origin).netloc and not url.path.startswith(("/api/", "/metrics", "/.well-known/")):
            paths.add(url.path)
    sizes = {}
    for path in paths:
        if os.environ.get("PAGE_ASSETS"):
            sizes[path] = len(gzip.compress(PUBLIC[path][1].read_bytes()))
            continue
        with urllib.request.urlopen(origin + path) as answer:
            assert "Content-Security-Policy" in answer.headers, path
            sizes[path] = len(gzip.compress(answer.read()))
    assert len(sizes) > 2, sizes
    assert sum(sizes.values()) < MOST_BYTES, f"{what}: {sum(sizes.values())} bytes: {sizes}"
    return sum(sizes.values())


async def strict(tab):
    """No script runs that is not a file of the gateway: neither inline, nor from text, nor from elsewhere."""
    before = len(tab.faults)
    assert await tab.value("document.querySelectorAll('[onclick], [onload], style').length + "
                           "[...document.scripts].filter((script) => !script.src).length") == 0
    await tab.value("""(() => {
        const inline = document.createElement('script');
        try { inline.textContent = 'globalThis.ran = 1'; document.head.append(inline); } catch { }
        try { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.ran = 2">'); } catch { }
        try { setTimeout('globalThis.ran = 3', 0); } catch { }
        try { globalThis.eval('globalThis.ran = 4'); } catch { }
        const foreign = document.createElement('script');
        try { foreign.src = 'https://elsewhere.example/x.js'; document.head.append(foreign); } catch { }
    })()""")
    await tab.value("new Promise((resolve) => setTimeout(resolve, 100))")
    # The DevTools protocol evaluates past the policy, and so may what it calls at once; what the page would run does not.
    assert await tab.value("[1, 2, 3].includes(globalThis.ran)") is False, await tab.value("globalThis.ran")
    assert await tab.value(
        "(() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return 'taken'; } catch (e) { return e.name; } })()"
    ) == "TypeError", "Trusted Types are not enforced"
    del tab.faults[before:]


#: The keys that tests press, with their numbers and what they write.
_KEYS = {"Tab": (9, None), "Enter": (13, "\r"), "ArrowDown": (40, None)}


async def press(tab, key):
    number, text = _KEYS[key]
    await tab.command("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, code=key,
                      windowsVirtualKeyCode=number, **({"text": text} if text else {}))
    await tab.command("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=number)


async def tab_to(tab, condition, most=80):
    """Presses Tab until it holds of the element that has the focus."""
    for _ in range(most):
        await press(tab, "Tab")
        if await tab.value(condition):
            return
    raise AssertionError(f"Tab leads nowhere: {condition}")


#: What a keyboard has to reach: all that is there to be used, and of radio buttons the one that is chosen.
_REACHABLE = """[...document.querySelectorAll('a[href], button, input, textarea, select, summary, [tabindex="0"]')]
    .filter((e) => e.checkVisibility() && !e.disabled && (e.type !== 'radio' || e.checked))"""


async def reached_by_keyboard(tab, what):
    """Tab reaches all that can be used, and where it is can be seen."""
    await tab.command("Page.bringToFront")
    count = await tab.value(f"(globalThis.reachable = {_REACHABLE}).length")
    await tab.value("globalThis.reached = new Set(); 1")
    for _ in range(count + 2):
        await press(tab, "Tab")
        plain = await tab.value(
            "(() => { const e = document.activeElement; reached.add(e); const { outlineStyle, boxShadow } = getComputedStyle(e);"
            "return e !== document.body && outlineStyle === 'none' && boxShadow === 'none' ? e.outerHTML.slice(0, 120) : null; })()")
        assert plain is None, f"{what}: the focus cannot be seen: {plain}"
    left = await tab.value("reachable.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 120))")
    assert count > 0 and left == [], f"{what}: not reached by keyboard: {left}"


async def keep_picture(tab, name):
    """With PAGE_SCREENSHOT=FOLDER, the page as a PNG."""
    folder = os.environ.get("PAGE_SCREENSHOT")
    if folder:
        picture = await tab.command("Page.captureScreenshot", captureBeyondViewport=False)
        pathlib.Path(folder, f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


