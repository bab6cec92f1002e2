"""The client library in real tabs, against a real gateway: offline and back, two tabs at once, a logout elsewhere, a wrong
clock, a service worker in between, a gateway that is started again under an open socket.

    python3 Tests/BrowserTests/client_test.py GATEHOUSE

GATEHOUSE is the program; the gateway is started in a folder of its own. Exits 0 when everything is as told, 77 when there
is no browser.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import closing
import timers
from chromium import BINARY, PATIENCE, Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/EndToEndTests/Scripts"))
import kept_outputs  # noqa: E402

EXAMPLE = ROOT / "Examples/browser"
EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
#: The library's timers for trying again are shorter than this, in milliseconds; that for the next token is longer.
SOON = 30_000


def free_port():
    """One that the kernel gives to no connection: none comes to it by chance while the gateway is stopped."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    # Above those that browsers refuse.
    ports = range(10_240, max(10_240, min(first, 32_768)))
    for port in [*random.sample(ports, min(100, len(ports))), 0]:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return free.getsockname()[1]
    raise OSError("no port is free")


class Gateway:
    """The program, which can be stopped and started again with the state that it left."""

    def __init__(self, program, folder, more="", routes=""):
        self.program, self.folder, self.port = program, pathlib.Path(folder), free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        self.configuration = self.folder / "gatehouse.yaml"
        self.configuration.write_text(
            f"server: {{listen: '127.0.0.1:{self.port}', admin: 'off', drain: 1s}}\n"
            f"state: {{url: 'sqlite:{folder}/state.sqlite'}}\nkeys: {{directory: {folder}/keys}}\n"
            f"limits: {{enabled: false}}\nlog: {{access: {folder}/access.log}}\n"
            f"routes: [{{path: /worker, upstream: 'http://127.0.0.1:{self.serve_files()}', require: none, strip_prefix: true}}{routes}]\n"
            + more)
        subprocess.run(
            [program, "users", "add", EMAIL, "--tenant", "acme", "--password-stdin", "--config", self.configuration],
            input=PASSWORD.encode(), check=True, stdout=kept_outputs.sink("output"), stderr=kept_outputs.sink("errors"),
            timeout=PATIENCE)
        self.process = None

    def serve_files(self):
        """An upstream with a service worker that answers for the gateway with a page, and with the plain example."""
        import http.server
        import threading

        class Files(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                script = b"""
                    addEventListener('install', () => skipWaiting());
                    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
                    addEventListener('fetch', (event) => {
                        if (!new URL(event.request.url).pathname.startsWith('/api/auth/refresh')) return;
                        event.respondWith(new Response('<!doctype html><p>You are offline', {headers: {'Content-Type': 'text/html'}}));
                    });"""
                is_page = self.path.endswith("page") or self.path.endswith(".html")
                if is_page:
                    script = b"<!doctype html><title>An application behind the gateway</title>"
                name = self.path.removeprefix("/example/")
                if name in ("index.html", "app.js"):
                    script = (EXAMPLE / name).read_bytes()
                self.send_response(200)
                self.send_header("Content-Type", "text/html" if is_page else "text/javascript")
                self.send_header("Service-Worker-Allowed", "/")
                self.send_header("Content-Length", str(len(script)))
                self.end_headers()
                self.wfile.write(script)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_address[1]

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--config", self.configuration], stdout=subprocess.PIPE, stderr=kept_outputs.sink(),
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, []))
        line = self.process.stdout.readline()
        assert line.startswith(b"ready"), line

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
            kept_outputs.keep(self.folder / "access.log", "access.log")

    def asked(self, method, path):
        """How many such requests the gateway has answered, of what it has written so far."""
        with open(self.folder / "access.log") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        return sum(1 for line in lines if line["method"] == method and line["path"].split("?")[0] == path)


async def page(browser, gateway, prepare=None):
    """A tab that has the library as `gate`, and notes what it tells."""
    async def prepare_all(tab):
        await timers.keep(tab)
        if prepare:
            await prepare(tab)
    tab = await browser.tab(gateway.origin + "/inspect", prepare_all)
    await tab.until("document.readyState == 'complete' && location.pathname == '/inspect'")
    await tab.value("""import('/gatehouse.js').then(({ Gatehouse }) => {
        globalThis.gate = new Gatehouse();
        globalThis.told = { refusal: [], socket: [], event: [], session: [], token: [] };
        gate.on('refusal', (refusal) => told.refusal.push(refusal.code));
        gate.on('socket', (status) => told.socket.push({ ...status }));
        gate.on('event', (frame) => frame.type === 'event' && told.event.push(frame.seq));
        gate.on('token', (token) => token && told.token.push(token.expiresAt));
        gate.on('session', (session) => told.session.push(session?.session_id ?? null));
        return gate.start().then(() => 1);
    })""")
    return tab


async def log_in(tab):
    await tab.value(f"gate.login({{email: '{EMAIL}', password: '{PASSWORD}'}}).then(() => 1)")


async def written(tab, gateway):
    """What the gateway has answered by now is counted once it has written of something later."""
    before = gateway.asked("GET", "/later")
    await tab.value("fetch('/later').then(() => 1)")
    end = time.monotonic() + PATIENCE
    while gateway.asked("GET", "/later") == before:
        assert time.monotonic() < end, "the gateway writes no access log"
        await asyncio.sleep(0.05)


async def one_session_no_socket(browser, gateway):
    tab = await page(browser, gateway)
    assert tab.errors == [], tab.errors
    first = await tab.value("gate.session.session_id")
    await tab.value("gate.connect().then(() => 'open', (refusal) => { globalThis.why = refusal.code; })")
    assert await tab.value("why") == "credentials_missing"
    assert not any("/ticket" in json.dumps(request) for request in tab.requests), "a ticket was asked for before the login"
    await tab.reload()
    again = await page(browser, gateway)
    assert await again.value("gate.session.session_id") == first, "a reload or a second tab made another session"
    assert tab.handshakes == [] and not any("webSocket" in json.dumps(r) for r in tab.requests)
    await written(tab, gateway)
    assert gateway.asked("GET", "/api/runtime/agent") == 0, "a socket before the login"
    assert not tab.faults + again.faults, tab.faults + again.faults
    await log_in(again)
    assert await again.value("gate.session.session_id") == first, "the login changed the id"
    await again.close()
    return tab


async def two_tabs(browser, gateway):
    """Both refresh at once, ten times: both stay signed in, and the socket of each stays open."""
    one, two = await page(browser, gateway), await page(browser, gateway)
    for tab in [one, two]:
        await tab.until("gate.authorized")
        await tab.value("gate.connect({ resumeFrom: 0 }).then(() => 1)")
    for _ in range(10):
        await asyncio.gather(*[tab.value("gate.refresh().then(() => 1)") for tab in [one, two]])
    for tab in [one, two]:
        assert await tab.value("gate.fetch('/api/auth/me').then((answer) => answer.status)") == 200
        assert await tab.value("gate.socket.state") == "open"
        assert await tab.value("told.refusal.length") == 0, await tab.value("told.refusal")
    return one, two


async def signs_in_again(one, two):
    """A login in one tab while the other refreshes: the cookies of the login stay, and the sockets of both come back."""
    await asyncio.gather(*[tab.value("told.socket.length = 0") for tab in [one, two]])
    await asyncio.gather(log_in(one), two.value("gate.refresh().then(() => 1)"))
    for tab in [one, two]:
        await tab.until("told.socket.some(({ code }) => code === 4401) && gate.socket.state === 'open'")
        assert await tab.value("gate.fetch('/api/auth/me').then((answer) => answer.status)") == 200
        session = await tab.value("fetch('/api/session/current').then((answer) => answer.json())")
        assert session["state"] == "authenticated" and session["session_id"] == await tab.value("gate.session.session_id"), session


async def offline_and_back(tab):
    await tab.command("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    await tab.until("!navigator.onLine")
    await tab.value("told.socket.length = 0; gate.disconnect(); gate.connect().catch(() => {}); 1")
    await tab.until("told.socket.at(-1)?.offline")
    asked = await timers.asked_for(tab, SOON)
    assert asked == [], f"something was tried while offline: {asked}"
    await tab.command("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    await tab.until("gate.socket.state === 'open'")
    stored = "document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)"
    assert await tab.value(stored) == ""
    assert await tab.value("indexedDB.databases().then((all) => all.length)") == 0


async def gateway_restarts(tab, gateway):
    """Intents keep coming while the gateway is stopped, killed and started: every one is answered once, in order."""
    await tab.value("told.event.length = 0; globalThis.done = []; 1")
    begun = "for (let n = 0; n < 20; n += 1) { const k = globalThis.next = (globalThis.next ?? 0) + 1;" \
            "gate.intent('echo', { k }).then((data) => done.push(data.k), (refusal) => done.push(refusal.code)); } 1"
    for how in [signal.SIGTERM, signal.SIGKILL]:
        await tab.value(begun)
        gateway.stop(how)
        await tab.until("gate.socket.state !== 'open'")
        await tab.value(begun)
        gateway.start()
        await tab.until("gate.socket.state === 'open'")
        await tab.value(begun)
        await tab.until("done.length === next")
    done = await tab.value("done")
    # One that a kill cut off in its middle is told as such, and not run twice.
    cut_off = [k for k in done if k == "interrupted"]
    ran = [k for k in done if isinstance(k, int)]
    assert len(ran) + len(cut_off) == 120 and len(set(ran)) == len(ran), done
    seqs = await tab.value("told.event")
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), f"lost or doubled: {seqs}"
    assert gateway.asked("GET", "/api/runtime/agent") > 0, "sockets are not counted"


async def away_for_a_while(tab):
    """What happens while a tab has no socket is told when it has one again, in order and once."""
    await tab.value("gate.disconnect(); told.event.length = 0; 1")
    await tab.value("""(async () => {
        for (let n = 0; n < 5; n += 1) {
            await gate.fetch('/api/intent', {
                method: 'POST', headers: { 'Content-Type': 'application/json', 'Session-Id': gate.session.session_id },
                body: JSON.stringify({ type: 'intent', id: `away-${n}`, intent: 'echo', params: { n } }) });
        }
        await gate.connect();
    })()""")
    await tab.until("told.event.length >= 5")
    seqs = await tab.value("told.event")
    assert seqs == list(range(seqs[0], seqs[0] + 5)), f"lost or doubled: {seqs}"


async def too_big(tab):
    """What is too big is refused by itself, and the socket that it closed comes back."""
    assert await tab.value("gate.intent('echo', { big: 'x'.repeat(70_000) }).catch((refusal) => refusal.code)") == "too_big"
    await tab.until("told.socket.some(({ code }) => code === 1009) && gate.socket.state === 'open'")
    assert await tab.value("gate.intent('echo', { big: false }).then(({ big }) => big)") is False


async def expiry(browser, program):
    """A refresh keeps the socket open beyond the end of its token, and one tab asks for all. Without one the socket closes
    with 4401, and comes back."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(program, folder, "tokens: {access_token_lifetime: 6s, clock_skew: 6s}\n")
        gateway.start()
        try:
            tab = await page(browser, gateway)
            await log_in(tab)
            others = [await page(browser, gateway) for _ in range(2)]
            for other in others:
                await other.until("gate.authorized")
            await written(tab, gateway)
            await tab.value("told.token.length = 0; gate.connect().then(() => { globalThis.opened = performance.now(); })")
            before = gateway.asked("POST", "/api/auth/refresh")
            await tab.until("performance.now() - opened > 14_000")
            told = await tab.value("told.token.length")
            asked = gateway.asked("POST", "/api/auth/refresh") - before
            assert told >= 2, told
            assert asked <= told + 1, f"{asked} refreshes for {told} tokens: each of three tabs asks for itself"
            for other in others:
                assert await other.value("gate.authorized")
                await other.close()
            assert await tab.value("told.socket.map(({ state }) => state)") == ["connecting", "open"]
            # Something in between answers refreshes with nothing.
            await tab.can("/api/auth/refresh", {})
            await tab.until("told.socket.some(({ code, reason }) => code === 4401 && reason === 'token_expired')")
            assert "unexpected_answer" in await tab.value("told.refusal")
            tab.canned.clear()
            await tab.until("gate.socket.state === 'open'")
            await tab.close()
        finally:
            gateway.stop(signal.SIGKILL)


async def reload_during_sign_in(browser, gateway):
    """Whatever had become of the login: there is a session, and the next login works."""
    for pause in [0, 0.05, 0.2]:
        tab = await page(browser, gateway)
        await tab.value(f"gate.login({{email: '{EMAIL}', password: '{PASSWORD}'}}).catch(() => {{}}); 1")
        await asyncio.sleep(pause)
        await tab.reload()
        again = await page(browser, gateway)
        assert await again.value("gate.session.state") in ["anonymous", "authenticated"]
        await log_in(again)
        assert await again.value("gate.fetch('/api/auth/me').then((answer) => answer.status)") == 200
        await again.value("gate.logout().then(() => 1)")
        for one in [tab, again]:
            assert not one.faults, one.faults
            await one.close()


async def wrong_clock(browser, gateway):
    """A tab whose clock is an hour ahead, and one an hour behind: signed in, connected, not refreshing all the time."""
    for hours in [-1, 1]:
        async def prepare(tab):
            await tab.command(
                "Page.addScriptToEvaluateOnNewDocument",
                source=f"{{ const now = Date.now; Date.now = () => now() + {hours} * 3_600_000; }}")
        tab = await page(browser, gateway, prepare)
        await tab.until("gate.authorized")
        await tab.value("gate.connect().then(() => 1)")
        asked = await timers.asked_for(tab, SOON)
        assert not any("/api/auth/refresh" in json.dumps(request) for request in asked), "it refreshes all the time"
        assert await tab.value("gate.socket.state") == "open"
        await tab.close()


async def service_worker(browser, gateway):
    """A service worker that answers refreshes with a page: it is told, the login stays, and nothing is asked in a loop."""
    application = await browser.tab(gateway.origin + "/worker/page")
    await application.until("document.title.startsWith('An application')")
    await application.value(
        "navigator.serviceWorker.register('/worker/sw.js', { scope: '/' }).then(() => navigator.serviceWorker.ready).then(() => 1)")
    tab = await page(browser, gateway)
    await tab.until("gate.authorized && navigator.serviceWorker.controller")
    assert await tab.value("gate.refresh().then(() => 'ok', (refusal) => refusal.code + ' ' + refusal.isPassing)") \
        == "unexpected_answer true"
    assert await tab.value("gate.refresh().catch((refusal) => refusal.detail)") is not None
    assert await tab.value("gate.authorized") and await tab.value("gate.session.state") == "authenticated"
    await application.value("navigator.serviceWorker.getRegistration('/').then((one) => one.unregister()).then(() => 1)")
    await application.close()
    await tab.close()


async def logout_elsewhere(one, two):
    """Another tab, and then another device, log out: sockets close with 4403, and no page tries again."""
    await one.value("gate.logout().then(() => 1)")
    await two.until("told.session.at(-1) === null")
    await two.until("gate.socket.state === 'closed'")
    asked = await timers.asked_for(two, SOON)
    assert asked == [], f"it tries again: {asked}"


async def logout_on_another_device(browser, gateway):
    tab = await page(browser, gateway)
    await log_in(tab)
    await tab.value("gate.connect().then(() => 1)")
    login = urllib.request.Request(
        gateway.origin + "/api/auth/login", method="POST", headers={"Content-Type": "application/json"},
        data=json.dumps({"email": EMAIL, "password": PASSWORD}).encode())
    token = json.load(urllib.request.urlopen(login))["access_token"]
    end = urllib.request.Request(
        gateway.origin + "/api/session/" + await tab.value("gate.session.session_id"), method="DELETE",
        headers={"Authorization": f"Bearer {token}"})
    assert urllib.request.urlopen(end).status == 204
    await tab.until("gate.socket.state === 'closed' && gate.socket.code === 4403")
    assert await tab.value("gate.socket.reason") == "session_ended"
    assert not tab.faults, tab.faults


async def logout_everywhere(browser, gateway):
    """What another device holds is over, too."""
    tab = await page(browser, gateway)
    await log_in(tab)
    login = urllib.request.Request(
        gateway.origin + "/api/auth/login", method="POST", headers={"Content-Type": "application/json"},
        data=json.dumps({"email": EMAIL, "password": PASSWORD}).encode())
    token = json.load(urllib.request.urlopen(login))["access_token"]
    me = urllib.request.Request(gateway.origin + "/api/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert urllib.request.urlopen(me).status == 200
    await tab.value("import('/gatehouse.js').then(({ Auth }) => new Auth(gate).logoutEverywhere()).then(() => 1)")
    try:
        assert urllib.request.urlopen(me).status == 401
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 401, refusal.code
    assert await tab.value("gate.session") is None
    await tab.close()


async def platform_state(browser, gateway):
    """A session on load, the same after a reload, and another when it has ended."""
    begin = """import('/gatehouse.js').then(({ PlatformState }) => {
        globalThis.platform = new PlatformState();
        globalThis.ended = 0;
        platform.on('ended', () => { ended += 1; });
        return platform.ready.then(({ session_id: id }) => id);
    })"""
    tab = await browser.tab(gateway.origin + "/inspect")
    first = await tab.value(begin)
    await tab.reload()
    assert await tab.value(begin) == first
    await tab.value("platform.gate.logout().then(() => 1)")
    await tab.until(f"ended === 1 && platform.sessionId && platform.sessionId !== '{first}'")
    assert not tab.faults, tab.faults
    await tab.close()


async def plain_example(browser, gateway):
    """Examples/browser: a login, a socket, an echo, a reload, a logout."""
    tab = await browser.tab(gateway.origin + "/worker/example/index.html")
    await tab.shows("state", "anonymous")
    before = await tab.text("session")
    await tab.value(f"""(() => {{
        const form = document.getElementById('login');
        form.elements.email.value = '{EMAIL}';
        form.elements.password.value = '{PASSWORD}';
        form.requestSubmit();
    }})()""")
    await tab.shows("socket", "open")
    assert await tab.text("session") == before and await tab.text("state") == "authenticated"
    say = "document.getElementById('say')"
    await tab.value(f"{say}.elements.text.value = 'over a socket'; {say}.requestSubmit()")
    await tab.shows("heard", "over a socket")
    await tab.reload()
    await tab.shows("socket", "open")
    await tab.shows("heard", "over a socket")
    await tab.click("logout")
    await tab.shows("state", "anonymous")
    assert await tab.text("trouble") == "" and not tab.faults, (await tab.text("trouble"), tab.faults)
    await tab.close()


async def apart(program):
    """What waits for seconds, in a browser of its own: cookies are those of an address, whatever its port."""
    async with Browser() as browser:
        await asyncio.gather(closing.every_way(browser), expiry(browser, program))


async def together(program):
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(program, folder)
        gateway.start()
        try:
            async with Browser() as browser:
                first = await one_session_no_socket(browser, gateway)
                await first.close()
                one, two = await two_tabs(browser, gateway)
                await signs_in_again(one, two)
                await offline_and_back(one)
                await gateway_restarts(two, gateway)
                await too_big(two)
                await away_for_a_while(two)
                await wrong_clock(browser, gateway)
                await service_worker(browser, gateway)
                await logout_elsewhere(one, two)
                await reload_during_sign_in(browser, gateway)
                await logout_on_another_device(browser, gateway)
                await logout_everywhere(browser, gateway)
                await platform_state(browser, gateway)
                await plain_example(browser, gateway)
                assert not one.faults + two.faults, one.faults + two.faults
        finally:
            gateway.stop(signal.SIGKILL)


async def main(program):
    await asyncio.gather(apart(os.path.abspath(program)), together(os.path.abspath(program)))
    print("client: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
