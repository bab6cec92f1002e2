"""A headless Chromium, driven over its DevTools protocol. Needs the `websockets` package and a `chromium` binary."""

import asyncio
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request

import websockets

BINARY = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One browser with a profile of its own, thrown away afterwards."""

    def __init__(self, *flags):
        self.flags = flags

    async def __aenter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        self.process = subprocess.Popen(
            [BINARY, *flags, *self.flags, "--remote-debugging-port=0", f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = await self._port()
        return self

    async def __aexit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()

    async def _port(self):
        for _ in range(200):
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"{self.profile.name}/DevToolsActivePort") as file:
                    return int(file.read().split()[0])
            await asyncio.sleep(0.1)
        raise TimeoutError("chromium did not start")

    async def tab(self, url):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request) as answer:
            address = json.load(answer)["webSocketDebuggerUrl"]
        tab = Tab(await websockets.connect(address, max_size=None))
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.command(f"{domain}.enable")
        await tab.command("Page.navigate", url=url)
        return tab


class Tab:
    """One page: `value` evaluates a script, `until` waits for it to be true. `handshakes` has the status of every
    WebSocket's answer: 101 over HTTP/1.1, 200 over HTTP/2."""

    def __init__(self, socket):
        self.socket, self.count, self.answers, self.faults, self.handshakes = socket, 0, {}, [], []
        self.reader = asyncio.create_task(self._read())

    async def _read(self):
        with contextlib.suppress(websockets.ConnectionClosed):
            async for text in self.socket:
                message = json.loads(text)
                if "id" in message:
                    self.answers.pop(message["id"]).set_result(message)
                elif message["method"] == "Network.webSocketHandshakeResponseReceived":
                    self.handshakes.append(message["params"]["response"]["status"])
                elif message["method"] == "Runtime.exceptionThrown":
                    self.faults.append(message["params"]["exceptionDetails"].get("exception", {}).get("description"))
                elif message["method"] == "Log.entryAdded" and message["params"]["entry"]["source"] == "security":
                    self.faults.append(message["params"]["entry"]["text"])

    async def command(self, method, **params):
        self.count += 1
        answer = self.answers[self.count] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        return (await asyncio.wait_for(answer, 20)).get("result", {})

    async def value(self, script):
        result = await self.command("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails'].get('text')}")
        return result["result"].get("value")

    async def until(self, script, seconds=10):
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

    async def shows(self, element, text, seconds=10):
        await self.until(f"document.getElementById('{element}').textContent.includes({json.dumps(text)})", seconds)

    async def click(self, element):
        await self.value(f"document.getElementById('{element}').click()")

    async def fill(self, element, text):
        await self.value(f"document.getElementById('{element}').value = {json.dumps(text)}")
