"""Clients of the soak: HTTP/1.1 over connections that are used again, and WebSockets."""

import asyncio
import base64
import json
import os
import struct
import urllib.parse


class Answer:
    def __init__(self, status, body):
        self.status, self.body = status, body

    @property
    def json(self):
        try:
            return json.loads(self.body) if self.body else {}
        except ValueError:
            return {}

    @property
    def code(self):
        return self.json.get("code", "")


class Lost(Exception):
    """There was no answer: whether the request was carried out is not known."""


class Limit:
    """`async with Limit(seconds)`: what takes longer ends with `asyncio.TimeoutError`. Unlike `asyncio.wait_for` it makes
    no task, which costs as much as a request."""

    def __init__(self, seconds):
        self.seconds, self.is_over = seconds, False

    async def __aenter__(self):
        self.task = asyncio.current_task()
        self.timer = asyncio.get_running_loop().call_later(self.seconds, self.over)

    def over(self):
        self.is_over = True
        self.task.cancel()

    async def __aexit__(self, kind, error, trace):
        self.timer.cancel()
        if self.is_over and kind is asyncio.CancelledError:
            if hasattr(self.task, "uncancel"):
                self.task.uncancel()
            raise asyncio.TimeoutError from error


class Node:
    """One gateway as its clients see it."""

    def __init__(self, name, port, clock=None, tls=None):
        self.name, self.port, self.clock, self.tls = name, port, clock, tls
        self.idle = []
        # Bounds how many requests wait for a gateway that does not answer.
        self.room = asyncio.Semaphore(256)

    async def open(self):
        async with Limit(5):
            return await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls, limit=1 << 20)

    async def ask(self, method, path, body=None, token=None, session=None, secret=None, timeout=15, form=None):
        """One request, whose body is JSON or a form. Throws `Lost` where no answer comes."""
        payload = b"" if body is None else json.dumps(body).encode()
        if form is not None:
            payload = urllib.parse.urlencode(form).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Length: {len(payload)}\r\n"
        if payload:
            head += f"Content-Type: application/{'json' if form is None else 'x-www-form-urlencoded'}\r\n"
        if token:
            head += f"Authorization: Bearer {token}\r\n"
        if session:
            head += f"Session-Id: {session}\r\n"
        if secret:
            head += f"Session-Secret: {secret}\r\n"
        async with self.room:
            try:
                async with Limit(timeout):
                    return await self.exchange(head.encode() + b"\r\n" + payload)
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
                raise Lost(f"{method} {path} at {self.name}: {type(error).__name__}") from error

    async def exchange(self, request):
        reader, writer = self.idle.pop() if self.idle else await self.open()
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            at = head.find(b"\r\ncontent-length:")
            length = int(head[at + 17:head.index(b"\r", at + 17)]) if at >= 0 else 0
            body = await reader.readexactly(length) if length else b""
        except BaseException:
            writer.transport.abort()
            raise
        if b"\r\nconnection: close\r\n" in head or len(self.idle) > 64:
            writer.close()
        else:
            self.idle.append((reader, writer))
        return Answer(int(head[9:12]), body)

    def forget(self):
        """Closes the idle connections, after the gateway was restarted."""
        for _, writer in self.idle:
            writer.transport.abort()
        self.idle = []

    async def upgrade(self, path, token=None, session=None):
        """Opens a WebSocket; returns the status, and the socket where it is 101."""
        reader, writer = await self.open()
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n")
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Session-Id: {session}\r\n" if session else ""
        try:
            writer.write(head.encode() + b"\r\n")
            async with Limit(15):
                answer = await reader.readuntil(b"\r\n\r\n")
        except BaseException:
            writer.transport.abort()
            raise
        status = int(answer[9:12])
        if status != 101:
            writer.transport.abort()
            return status, None
        return status, WebSocket(reader, writer)


class WebSocket:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    def send(self, text, opcode=1):
        data = text.encode() if isinstance(text, str) else text
        size = bytes([128 | len(data)]) if len(data) < 126 else struct.pack("!BH", 254, len(data))
        self.writer.write(bytes([128 | opcode]) + size + bytes(4) + data)

    async def frame(self):
        """The next frame: its opcode and payload. Pings are answered here."""
        while True:
            first, second = await self.reader.readexactly(2)
            length = second & 127
            if length == 126:
                length = struct.unpack("!H", await self.reader.readexactly(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", await self.reader.readexactly(8))[0]
            payload = await self.reader.readexactly(length)
            if first & 15 != 9:
                return first & 15, payload
            self.send(payload, opcode=10)

    def cut(self):
        self.writer.transport.abort()
