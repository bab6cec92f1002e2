#!/usr/bin/env python3
"""Holds WebSockets over HTTP/2 (RFC 8441), as `ws-load hold` does over HTTP/1.1, and obeys the same lines `mute` and `report`:
`http2-hold.py --port P --ca FILE --path /p --connections SOCKETS --tokens FILE --field "Name: value" --every MS`.

The frames are written by hand: thousands of streams would cost a library's state machine a core."""

import argparse
import asyncio
import json
import ssl
import struct
import sys

STREAMS = 100
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
TEXT = b"m" * 128


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def text(value):
    """A string of HPACK, not compressed."""
    data = value.encode()
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, size = len(data) - 127, b"\x7f"
    while rest > 127:
        size += bytes([128 | rest & 127])
        rest >>= 7
    return size + bytes([rest]) + data


def message(opcode, data):
    """A WebSocket message of less than 64 KiB, with a mask of zeros."""
    size = bytes([128 | len(data)]) if len(data) < 126 else struct.pack("!BH", 254, len(data))
    return bytes([128 | opcode]) + size + bytes(4) + data


class Socket:
    __slots__ = ("connection", "stream", "have", "is_open")

    def __init__(self, connection, stream):
        self.connection, self.stream, self.have, self.is_open = connection, stream, b"", False

    def send(self, opcode, data):
        self.connection.transport.write(frame(DATA, 0, self.stream, message(opcode, data)))

    def take(self, data, tally):
        """Reads the frames of WebSocket in a tunnel."""
        have = self.have + data
        while len(have) >= 2:
            size, head = have[1] & 127, 2
            if size == 126:
                if len(have) < 4:
                    break
                size, head = struct.unpack("!H", have[2:4])[0], 4
            if len(have) < head + size:
                break
            opcode, payload, have = have[0] & 15, have[head:head + size], have[head + size:]
            if opcode == 9:
                tally.pings += 1
                self.send(10, payload)
            elif opcode == 1:
                tally.back += 1
            elif opcode == 8:
                self.close(tally)
        self.have = have

    def close(self, tally):
        if self.is_open:
            self.is_open = False
            tally.ended += 1


class Tally:
    opened = refused = pings = sent = back = ended = 0


class Connection(asyncio.Protocol):
    def __init__(self, head, count, tally, settled):
        self.head, self.tally, self.settled = head, tally, settled
        self.sockets = {stream: Socket(self, stream) for stream in range(1, 2 * count, 2)}
        self.have = b""

    def connection_made(self, transport):
        self.transport = transport
        # A window for each stream and for all that is never exhausted.
        settings = struct.pack("!HI", 4, 1 << 24)
        start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings)
        start += frame(WINDOW, 0, 0, struct.pack("!I", 1 << 30))
        transport.write(start)

    def data_received(self, data):
        have = self.have + data
        while len(have) >= 9:
            size = int.from_bytes(have[:3], "big")
            if len(have) < 9 + size:
                break
            kind, flags, stream = have[3], have[4], int.from_bytes(have[5:9], "big") & 0x7FFFFFFF
            self.heard(kind, flags, stream, have[9:9 + size])
            have = have[9 + size:]
        self.have = have

    def heard(self, kind, flags, stream, payload):
        socket, tally = self.sockets.get(stream), self.tally
        if kind == DATA and socket:
            socket.take(payload, tally)
            if flags & 1:
                socket.close(tally)
        elif kind == HEADERS and socket and not socket.is_open:
            # 0x88 is `:status 200` of the static table, which stands first.
            if payload[:1] == b"\x88" and not flags & 1:
                socket.is_open = True
                tally.opened += 1
            else:
                tally.refused += 1
            self.settled()
        elif kind == RESET and socket:
            if not socket.is_open:
                tally.refused += 1
                self.settled()
            socket.close(tally)
        elif kind == SETTINGS and not flags & 1:
            # Only now extended CONNECT is agreed on.
            opening = b"".join(frame(HEADERS, 4, stream, self.head) for stream in self.sockets)
            self.transport.write(frame(SETTINGS, 1, 0) + opening)
        elif kind == PING and not flags & 1:
            self.transport.write(frame(PING, 1, 0, payload))

    def connection_lost(self, error):
        for socket in self.sockets.values():
            socket.close(self.tally)


async def main():
    options = argparse.ArgumentParser()
    for name in ("--port", "--connections", "--every"):
        options.add_argument(name, type=int, default=0)
    for name in ("--ca", "--path", "--tokens", "--field"):
        options.add_argument(name)
    given = options.parse_args()
    context = ssl.create_default_context(cafile=given.ca)
    context.set_alpn_protocols(["h2"])
    fields = {
        ":method": "CONNECT", ":protocol": "websocket", ":scheme": "https", ":path": given.path,
        ":authority": f"127.0.0.1:{given.port}", "sec-websocket-version": "13",
        "authorization": "Bearer " + open(given.tokens).readline().strip(),
        given.field.split(": ")[0].lower(): given.field.split(": ")[1],
    }
    head = b"".join(b"\x00" + text(name) + text(value) for name, value in fields.items())
    loop, tally, connections = asyncio.get_running_loop(), Tally(), []
    all_settled = asyncio.Event()

    def settled():
        if tally.opened + tally.refused == given.connections:
            all_settled.set()

    for start in range(0, given.connections, STREAMS):
        count = min(STREAMS, given.connections - start)
        _, connection = await loop.create_connection(
            lambda: Connection(head, count, tally, settled), "127.0.0.1", given.port, ssl=context)
        connections.append(connection)
    if given.connections:
        await asyncio.wait_for(all_settled.wait(), 60)
    print(json.dumps({"open": tally.opened, "refused": tally.refused}), flush=True)
    sockets = [socket for connection in connections for socket in connection.sockets.values()]

    async def talk():
        since, turn = loop.time(), 0
        while True:
            await asyncio.sleep(0.05)
            due = int((loop.time() - since) * 1000 * len(sockets) / given.every)
            turn = max(turn, due - len(sockets))
            for turn in range(turn, due):
                socket = sockets[turn % len(sockets)]
                if socket.is_open:
                    socket.send(1, TEXT)
                    tally.sent += 1
            turn = due

    talking = asyncio.create_task(talk()) if given.every and sockets else None
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.startswith(b"mute"):
            if talking:
                talking.cancel()
            print("{}", flush=True)
        elif line.startswith(b"report"):
            print(json.dumps({
                "open": sum(socket.is_open for socket in sockets), "ended": tally.ended, "pings": tally.pings,
                "sent": tally.sent, "back": tally.back}), flush=True)

asyncio.run(main())
