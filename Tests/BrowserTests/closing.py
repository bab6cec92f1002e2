"""A gateway that does one thing: it closes sockets, each in another way. It shows what the browser client makes of that.

The ways are those of parts.test.mjs, which reads them without a browser.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import pathlib
import re
import struct
import urllib.parse

import timers
from assets import POLICY, PUBLIC

_LIST = (pathlib.Path(__file__).parent / "parts.test.mjs").read_text()
#: Code, reason, and what follows: `stop`, `retry` or `renew`.
WAYS = [(int(code), reason, then) for code, reason, then in re.findall(
    r"\[(\d{4}), '(\w*)', '(\w+)'\]", _LIST[_LIST.index("const CLOSINGS"):_LIST.index("\n];")])]


def frame(opcode, payload):
    """A frame from a server (RFC 6455 section 5.2), of at most 125 bytes."""
    return bytes([0x80 | opcode, len(payload)]) + payload


class Closing:
    """Sessions are called by the numbers of WAYS: the first socket of `ses_N` is closed in way N as soon as it is ready,
    and the next ones stay. `dials` says how many each has had."""

    async def __aenter__(self):
        self.dials = {}
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.origin = "http://127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()

    async def _serve(self, reader, writer):
        # Cancelled: the test is over, and its browser has not hung up yet.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            url = urllib.parse.urlsplit(lines[0].split()[1])
            if fields.get("upgrade", "").lower() == "websocket":
                await self._socket(reader, writer, fields["sec-websocket-key"], urllib.parse.parse_qs(url.query)["ticket"][0])
            else:
                await reader.readexactly(int(fields.get("content-length", 0)))
                writer.write(self._answer(url.path))
                await writer.drain()
        with contextlib.suppress(ConnectionError):
            writer.close()

    def _answer(self, path):
        if path in PUBLIC:
            kind, body = PUBLIC[path][0], PUBLIC[path][1].read_bytes()
        elif path.endswith("/ticket"):
            kind, body = "application/json", json.dumps({"ticket": "tkt_" + path.split("_")[1].split("/")[0], "expires_in": 30}).encode()
        else:
            kind, body = "text/html", b"<!doctype html><title>A page</title>"
        head = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close",
                f"Content-Security-Policy: {POLICY}"]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body

    async def _socket(self, reader, writer, key, ticket):
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        writer.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
        writer.write(frame(1, json.dumps({"type": "ready", "session": {}, "last_seq": 0}).encode()))
        await writer.drain()
        number = int(ticket.removeprefix("tkt_"))
        self.dials[number] = self.dials.get(number, 0) + 1
        if self.dials[number] == 1:
            code, reason, _ = WAYS[number]
            if code == 1006:  # what a browser says of a connection that is cut
                return writer.transport.abort()
            # 1005 is what it says of a close frame that has no code.
            writer.write(frame(8, b"" if code == 1005 else struct.pack(">H", code) + reason.encode()))
            await writer.drain()
        while await reader.read(4096):
            pass


#: A client for each way. What its `renew` gets is a newer token.
_CLIENTS = """import('/gatehouse.js').then(({ RuntimeClient }) => {
    globalThis.clients = Array.from({ length: COUNT }, (_, number) => {
        const client = { renewals: 0, told: [] };
        client.runtime = new RuntimeClient({
            accessToken: () => `a${client.renewals}`, sessionId: `ses_${number}`, renew: async () => { client.renewals += 1; } });
        client.runtime.on('socket', ({ state, code, reason }) => client.told.push([state, code, reason]));
        client.runtime.connect().catch(() => {});
        return client;
    });
    return 1;
})"""


async def every_way(browser):
    """Every close code leads where it should: the socket stays closed, comes back, or comes back with a newer token."""
    assert len(WAYS) > 20, WAYS
    async with Closing() as gateway:
        tab = await browser.tab(gateway.origin + "/page", timers.keep)
        await tab.value(_CLIENTS.replace("COUNT", str(len(WAYS))))
        await tab.until("clients.every(({ told }) => told.some(([, code]) => code !== undefined))")
        for number, (code, reason, then) in enumerate(WAYS):
            if then != "stop":
                await tab.until(f"clients[{number}].runtime.isOpen")
        # Half a minute is more than the first pause of a client that should have stayed closed.
        asked = await timers.asked_for(tab, 30_000)
        assert asked == [], f"something is tried again: {asked}"
        for number, (code, reason, then) in enumerate(WAYS):
            what = f"{code} {reason}"
            told = await tab.value(f"clients[{number}].told")
            assert [*told[2][1:], ""][:2] == [code, reason] and told[1][0] == "open", f"{what}: {told}"
            assert told[-1][0] == ("closed" if then == "stop" else "open"), f"{what}: {told}"
            assert gateway.dials[number] == (1 if then == "stop" else 2), f"{what}: {gateway.dials[number]} sockets"
            assert await tab.value(f"clients[{number}].renewals") == (1 if then == "renew" else 0), what
        assert not tab.faults, tab.faults
        await tab.close()
