#!/usr/bin/env python3
"""A network between a gateway and PostgreSQL that can fail: `store-proxy.py --target FILE`, PostgreSQL's Unix socket.

Prints the port that it listens on, and obeys lines from standard input. Each is answered with how many connections
there are, and how often bytes or connections were affected since the line before.

- `hold up|down|both`: bytes wait, and arrive later, as when packets are lost and TCP sends them again. `up` is to
  PostgreSQL.
- `lose up|down|both`: bytes are lost, and ends of connections, too. A connection that has lost any passes no more in
  that direction, as where a firewall has forgotten it: a stream with a gap would be none.
- `close both`: connections are closed, and new ones at once.
- `pass`: the network is right again. Connections that have lost bytes are closed.
"""

import argparse
import asyncio
import json
import sys

FAILURES = (OSError, EOFError)


class Way:
    """One direction of the network."""

    def __init__(self):
        self.mode, self.passes = "pass", asyncio.Event()
        self.passes.set()

    def turn(self, mode):
        self.mode = mode
        if mode == "hold":
            self.passes.clear()
        else:
            self.passes.set()


class Connection:
    def __init__(self, network, reader, writer):
        self.network, self.reader, self.writer, self.store = network, reader, writer, None
        self.has_gap = False

    async def run(self):
        network = self.network
        if network.up.mode == "lose":
            # Nothing of it arrives, and nothing comes back.
            self.has_gap = True
            network.affected += 1
            while await self.reader.read(65536):
                pass
            return
        if network.up.mode == "hold":
            network.affected += 1
            await network.up.passes.wait()
        try:
            reader, self.store = await asyncio.open_unix_connection(network.target)
        except FAILURES:
            return
        pumps = [
            asyncio.create_task(self.pump(network.up, self.reader, self.store)),
            asyncio.create_task(self.pump(network.down, reader, self.writer)),
        ]
        await asyncio.wait(pumps)

    async def pump(self, way, reader, writer):
        has_gap = False
        while True:
            try:
                data = await reader.read(65536)
            except FAILURES:
                data = b""
            has_gap = has_gap or way.mode == "lose"
            if has_gap:
                self.has_gap = True
                self.network.affected += 1
                if not data:
                    # The other end does not hear of it.
                    return
                continue
            if way.mode == "hold":
                self.network.affected += 1
                await way.passes.wait()
            try:
                if not data:
                    return writer.close()
                writer.write(data)
                await writer.drain()
            except FAILURES:
                return

    def abort(self):
        for writer in filter(None, (self.writer, self.store)):
            writer.transport.abort()


class Network:
    def __init__(self, target):
        self.target = target
        self.up, self.down = Way(), Way()
        self.is_closed, self.affected = False, 0
        self.connections = set()

    async def accept(self, reader, writer):
        connection = Connection(self, reader, writer)
        self.connections.add(connection)
        try:
            if self.is_closed:
                self.affected += 1
            else:
                await connection.run()
        except FAILURES:
            pass
        finally:
            self.connections.discard(connection)
            connection.abort()

    def obey(self, how, way):
        told = {"connections": len(self.connections), "affected": self.affected}
        self.affected = 0
        if how == "close":
            self.is_closed = True
            self.affected += len(self.connections)
            for connection in list(self.connections):
                connection.abort()
        elif how == "pass":
            self.is_closed = False
            for one in (self.up, self.down):
                one.turn("pass")
            for connection in [one for one in self.connections if one.has_gap]:
                connection.abort()
        else:
            for name, one in (("up", self.up), ("down", self.down)):
                if way in (name, "both"):
                    one.turn(how)
        return told


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--target", required=True)
    network = Network(options.parse_args().target)
    server = await asyncio.start_server(network.accept, "127.0.0.1", 0)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := (await lines.readline()).split():
        told = network.obey(line[0].decode(), line[1].decode() if len(line) > 1 else "both")
        print(json.dumps(told), flush=True)

asyncio.run(main())
