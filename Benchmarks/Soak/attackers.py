"""What is done to the gateway while honest clients use it. Each attack is bounded by a rate or a number."""

import asyncio
import os
import random
import struct

from wire import Limit, Lost

FAILURES = (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, Lost)


class Attackers:
    def __init__(self, oracle, node, secure, honest, scale):
        """`node` speaks plain HTTP/1.1, `secure` TLS with HTTP/2, and `honest` TLS with HTTP/1.1 to the same node."""
        self.oracle, self.node, self.secure, self.honest, self.scale = oracle, node, secure, honest, scale

    def tasks(self):
        yield self.every(1 / (200 * self.scale), self.refused_upgrade)
        yield self.every(1 / (20 * self.scale), self.half_frame)
        yield self.every(1 / (20 * self.scale), self.oversized_frame)
        yield self.every(1 / (20 * self.scale), self.oversized_head)
        yield self.every(1 / (5 * self.scale), self.rapid_reset)
        for _ in range(int(200 * self.scale)):
            yield self.slow_head()

    async def every(self, seconds, attack):
        """Begins an attack again and again, with at most 64 of a kind under way."""
        room = asyncio.Semaphore(64)

        async def once():
            async with room:
                try:
                    async with Limit(20):
                        await attack()
                except FAILURES as error:
                    self.oracle.counts[f"{attack.__name__}: cut"] += 1
                    # Of this attack only the attacked connection may be cut, which it judges itself: what is left
                    # is a connection that could not be made, or an honest request without an answer.
                    if attack == self.rapid_reset and not self.oracle.is_disturbed:
                        self.oracle.fault(f"around a rapid reset there was no answer: {type(error).__name__}")

        running = set()
        while True:
            if not room.locked():
                task = asyncio.create_task(once())
                running.add(task)
                task.add_done_callback(running.discard)
            await asyncio.sleep(seconds)

    def check(self, what, is_right, got):
        if is_right:
            self.oracle.counts[f"{what}: refused"] += 1
        else:
            self.oracle.fault(f"{what} was answered {got}")

    async def refused_upgrade(self):
        """A handshake with a token that is not signed."""
        token = "eyJhbGciOiJFUzI1NiJ9.e30." + "A" * 86
        status, socket = await self.node.upgrade("/socket/x", token, "ses_AAAAAAAAAAAAAAAAAAAAAA")
        if socket:
            socket.cut()
        self.check("refused upgrade", status in (401, 403, 503), status)

    async def socket(self):
        session = self.oracle.any_live()
        if not session:
            return None
        status, socket = await self.node.upgrade("/api/runtime/echo", session.token.text, session.id)
        return socket

    async def half_frame(self):
        """The beginning of a frame, and never the rest."""
        socket = await self.socket()
        if not socket:
            return
        try:
            socket.writer.write(b"\x81\xfe\x04")
            await asyncio.sleep(random.uniform(0.5, 5))
        finally:
            socket.cut()
        self.oracle.counts["half frame: left"] += 1

    async def oversized_frame(self):
        """A frame that announces four exabytes."""
        socket = await self.socket()
        if not socket:
            return
        try:
            socket.writer.write(b"\x82" + bytes([255]) + struct.pack("!Q", 1 << 62) + bytes(4) + os.urandom(4096))
            while True:
                opcode, payload = await socket.frame()
                if opcode == 8:
                    code = struct.unpack("!H", payload[:2])[0]
                    # The session may have ended in this moment.
                    return self.check("oversized frame", code in (1009, 1002, 4403, 4401, 1013, 1001), code)
        finally:
            socket.cut()

    async def oversized_head(self):
        reader, writer = await self.node.open()
        try:
            writer.write(b"GET /token/x HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 70_000 + b"\r\n\r\n")
            head = await reader.readuntil(b"\r\n")
            self.check("oversized head", head[9:12] == b"431", head)
        finally:
            writer.transport.abort()

    async def slow_head(self):
        """A byte of a head each second, on a connection that is made again when it is closed."""
        while True:
            try:
                _, writer = await self.node.open()
                try:
                    for byte in b"GET /token/x HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"a" * 60:
                        writer.write(bytes([byte]))
                        await asyncio.sleep(1)
                        if writer.is_closing():
                            break
                    self.check("slow head", writer.is_closing(), "not at all")
                finally:
                    writer.transport.abort()
            except FAILURES:
                self.oracle.counts["slow head: cut"] += 1
                await asyncio.sleep(1)

    async def rapid_reset(self):
        """HTTP/2: four hundred streams, each reset as soon as it is opened (CVE-2023-44487). The gateway takes 200
        resets of a connection within half a minute and ends it then; other connections do not suffer."""
        told = await self.reset_streams()
        self.oracle.counts[f"rapid reset: {told}"] += 1
        if told == "the connection stays":
            self.oracle.fault("rapid reset: the connection was not ended")
        reader, writer = await self.honest.open()
        try:
            writer.write(b"GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            head = await reader.readuntil(b"\r\n")
        finally:
            writer.transport.abort()
        if head[9:12] != b"200":
            self.oracle.fault(f"after a rapid reset an honest request was answered {head}")

    async def reset_streams(self):
        """How the gateway ended the connection."""
        reader, writer = await self.secure.open()
        try:
            writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
            # :method GET, :scheme https, :path /, :authority x
            block = b"\x82\x87\x84\x41\x01x"
            for stream in range(1, 801, 2):
                writer.write(frame(1, 5, stream, block) + frame(3, 0, stream, struct.pack("!I", 8)))
            async with Limit(10):
                await writer.drain()
                while True:
                    head = await reader.readexactly(9)
                    payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
                    # GOAWAY with an error: the one of a gateway that stops has none.
                    if head[3] == 7 and payload[4:8] != bytes(4):
                        return f"GOAWAY {struct.unpack('!I', payload[4:8])[0]}"
        except asyncio.TimeoutError:
            return "the connection stays"
        except (OSError, EOFError):
            return "closed"
        finally:
            writer.transport.abort()


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload
