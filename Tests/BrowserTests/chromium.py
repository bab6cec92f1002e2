"""A headless Chromium, driven over its DevTools protocol. Needs the `websockets` package and a `chromium` binary.

With PAGE_ASSETS=1 the pages' files come from the source tree, whatever the gateway has: a change is seen without a build.
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

import websockets

from assets import POLICY, PUBLIC

BINARY = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: How many seconds anything may take. It ends what hangs and measures nothing: machines that test are busy.
PATIENCE = 120
#: Without what a browser does by itself in the background, and without slowing tabs that are not in front.
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
]


class Browser:
    """One browser with a profile of its own, thrown away afterwards."""

    def __init__(self, *flags):
        self.flags = flags

    async def __aenter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # A page that was not fetched counts as one from elsewhere, whose sockets must not reach this machine.
        more = ["--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets"] if os.environ.get("PAGE_ASSETS") else []
        self.process = subprocess.Popen(
            [BINARY, *more, *FLAGS, *self.flags, "--remote-debugging-port=0", f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = await self._port()
        return self

    async def __aexit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    async def _port(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"{self.profile.name}/DevToolsActivePort") as file:
                    return int(file.read().split()[0])
            await asyncio.sleep(0.1)
        raise TimeoutError(f"chromium did not start: {self.process.poll()}")

    async def tab(self, url, prepare=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            address = json.load(answer)["webSocketDebuggerUrl"]
        tab = Tab(await websockets.connect(address, max_size=None, open_timeout=PATIENCE, ping_interval=None))
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.command(f"{domain}.enable")
        if os.environ.get("PAGE_ASSETS"):
            tab.files = PUBLIC
            await tab.command("Fetch.enable", patterns=[{"urlPattern": f"http*://*{path}{more}"} for path in PUBLIC for more in ["", "\\?*"]])
        if prepare:
            await prepare(tab)
        went = await tab.command("Page.navigate", url=url)
        assert "errorText" not in went, f"{url}: {went['errorText']}"
        # The answer may come while the blank page is still there.
        await tab.until("location.href !== 'about:blank' && document.readyState === 'complete'")
        return tab


class Tab:
    """One page: `value` evaluates a script, `until` waits for it to be true. `handshakes` has the status of every
    WebSocket's answer: 101 over HTTP/1.1, 200 over HTTP/2. `requests` has all that was asked of the network, `faults` what
    no page may do, and `errors` all that the browser's console shows in red."""

    def __init__(self, socket):
        self.socket, self.count, self.answers, self.faults, self.handshakes = socket, 0, {}, [], []
        self.requests, self.canned, self.files, self.errors = [], {}, {}, []
        self.reader = asyncio.create_task(self._read())

    async def _read(self):
        try:
            await self._messages()
        finally:
            for answer in self.answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the page is gone"))

    async def _messages(self):
        with contextlib.suppress(websockets.ConnectionClosed):
            async for text in self.socket:
                message = json.loads(text)
                if "id" in message:
                    answer = self.answers.pop(message["id"])
                    if not answer.done():
                        answer.set_result(message)
                elif message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                    self.requests.append(message["params"])
                elif message["method"] == "Fetch.requestPaused":
                    asyncio.create_task(self._answer(message["params"]))
                elif message["method"] == "Network.webSocketHandshakeResponseReceived":
                    self.handshakes.append(message["params"]["response"]["status"])
                elif message["method"] == "Runtime.exceptionThrown":
                    self.faults.append(message["params"]["exceptionDetails"].get("exception", {}).get("description"))
                    self.errors.append(self.faults[-1])
                elif message["method"] == "Runtime.consoleAPICalled" and message["params"]["type"] in ("error", "assert"):
                    self.errors.append([argument.get("value") for argument in message["params"]["args"]])
                elif message["method"] == "Log.entryAdded":
                    entry = message["params"]["entry"]
                    if entry["source"] == "security":
                        self.faults.append(entry["text"])
                    if entry["level"] == "error":
                        self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    async def command(self, method, seconds=PATIENCE, **params):
        self.count += 1
        answer = self.answers[self.count] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        message = await asyncio.wait_for(answer, seconds)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error'].get('message')}")
        return message["result"]

    async def close(self):
        """Closes the page, and waits until it is gone."""
        with contextlib.suppress(ConnectionError, websockets.ConnectionClosed):
            await self.command("Page.close")
        await asyncio.wait([self.reader], timeout=PATIENCE)

    async def reload(self):
        """Loads the page anew, nothing of it from the cache, and waits for the new one."""
        await self.value("globalThis.isBefore = true")
        await self.command("Page.reload", ignoreCache=True)
        await self.until("!globalThis.isBefore && document.readyState === 'complete'")

    async def can(self, path, body):
        """Answers GETs of a path with this JSON, in place of the server."""
        self.canned[path] = body
        patterns = [f"*{path}" for path in self.canned] + [f"http*://*{path}{more}" for path in self.files for more in ["", "\\?*"]]
        await self.command("Fetch.enable", patterns=[{"urlPattern": pattern} for pattern in patterns])

    async def _answer(self, paused):
        # A page that has gone on meanwhile asks for nothing.
        with contextlib.suppress(RuntimeError, ConnectionError, websockets.ConnectionClosed):
            await self._fulfil(paused)

    async def _fulfil(self, paused):
        path = urllib.parse.urlsplit(paused["request"]["url"]).path
        fields = {}
        if path in self.canned:
            kind, body = "application/json", json.dumps(self.canned[path]).encode()
        elif path in self.files:
            kind, file = self.files[path]
            fields, body = {"Content-Security-Policy": POLICY}, file.read_bytes()
        else:
            return await self.command("Fetch.continueRequest", requestId=paused["requestId"])
        await self.command(
            "Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200, body=base64.b64encode(body).decode(),
            responseHeaders=[{"name": name, "value": value} for name, value in {"Content-Type": kind, **fields}.items()])

    async def value(self, script, seconds=PATIENCE):
        result = await self.command("Runtime.evaluate", seconds, expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails'].get('text')}")
        return result["result"].get("value")

    async def until(self, script, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(RuntimeError):
                if await self.value(f"!!({script})"):
                    return
            await asyncio.sleep(0.05)
        page = await self.value("document.body.innerText")
        raise AssertionError(f"never came true: {script}\n{page}")

    async def text(self, element):
        return await self.value(f"document.getElementById('{element}').textContent")

    async def shows(self, element, text):
        await self.until(f"document.getElementById('{element}').textContent.includes({json.dumps(text)})")

    async def tells(self, condition):
        """Waits for something that the browser tells of by itself: of `faults`, `handshakes` or `requests`."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"never told: {self.faults} {self.handshakes}"
            await asyncio.sleep(0.05)

    async def click(self, element):
        await self.value(f"document.getElementById('{element}').click()")

    async def fill(self, element, text):
        await self.value(f"document.getElementById('{element}').value = {json.dumps(text)}")
