"""A page's timers, which a test runs before their time: what the page would do within a while, it does at once. That a page
asks for nothing is seen without waiting for it.
"""

_SCRIPT = """(() => {
    const [set, clear] = [setTimeout, clearTimeout];
    const pending = new Map();
    let isHeld = false;
    globalThis.setTimeout = (run, after = 0, ...given) => {
        const one = { after: Number(after), isDue: false, run: () => run(...given) };
        const id = set(() => {
            if (isHeld) one.isDue = true;
            else if (pending.delete(id)) one.run();
        }, after);
        pending.set(id, one);
        return id;
    };
    globalThis.clearTimeout = (id) => {
        pending.delete(id);
        clear(id);
    };
    globalThis.testTimers = {
        hold() { isHeld = true; },
        run(within) {
            for (const [id, one] of [...pending]) {
                if (one.after > within || !pending.delete(id)) continue;
                clear(id);
                one.run();
            }
        },
        release() {
            isHeld = false;
            for (const [id, one] of [...pending]) if (one.isDue && pending.delete(id)) one.run();
        },
    };
})()"""

#: Comes behind all that waits for the library's lock, and its request behind all that were made before it.
_LATER = "navigator.locks.request('gatehouse', () => 0).then(() => fetch('/inspect?later')).then(() => 0, () => 0)"


async def keep(tab):
    """What a tab needs before its page is loaded: `browser.tab(url, timers.keep)`."""
    await tab.command("Page.addScriptToEvaluateOnNewDocument", source=_SCRIPT)


async def asked_for(tab, within):
    """The requests that the page makes when all its timers of up to so many milliseconds run, and then those that they have
    set. No timer runs by itself meanwhile."""
    await tab.value("testTimers.hold()")
    before = len(tab.requests)
    for _ in range(3):
        await tab.value(f"testTimers.run({within})")
        await tab.value(_LATER)
    await tab.value("testTimers.release()")
    return [one for one in tab.requests[before:] if not one.get("request", one).get("url", "").endswith("/inspect?later")]
