"""A node of the soak runs out of descriptors, and another out of disk."""

import asyncio
import os
import subprocess

from cluster import Gateway
from fault_tools import FaultTools
from wire import Limit, Lost, Node

# How many descriptors are left. A gateway closes new connections while there are no more than 64.
FEW = 10


class FileFaults(FaultTools):
    async def out_of_files(self):
        """A node that holds sockets may open hardly any more descriptors: it refuses new connections, and those that
        are open go on. The node is the one with TLS, since of the other one no honest request may fail."""
        gateway, node = self.soak.c, self.soak.nodes["c"]
        process = gateway.process
        kept = Node("c", gateway.port, gateway.clock, node.tls)
        kept.idle = [await kept.open() for _ in range(4)]
        sockets = [await self.open_socket(kept, path) for path in ("/api/runtime/echo", "/socket/x")]
        before = gateway.limit_files(gateway.lowest_free() + FEW)
        opened = []
        try:
            seen = await asyncio.gather(*(self.try_to_open(kept, opened) for _ in range(40)))
            await self.use_kept(kept, sockets)
        finally:
            gateway.limit_files(before)
            for writer in opened:
                writer.transport.abort()
        refused = seen.count("refused")
        if not refused:
            self.oracle.fault(f"without descriptors no connection of 40 was refused: {seen}")
        node.forget()
        back = await self.until_served(node)
        await self.use_kept(kept, sockets)
        kept.forget()
        for socket in filter(None, sockets):
            socket.cut()
        await self.look_at_held(gateway)
        if gateway.process is not process or process.poll() is not None:
            self.oracle.fault("a node without descriptors has ended")
        return f"{refused} of 40 connections were refused, those before went on; served again after {back:.1f} s"

    async def open_socket(self, node, path):
        status, socket = await node.upgrade(path, self.soak.pair["access_token"], self.soak.pair["session_id"])
        if not socket:
            self.oracle.fault(f"a socket at {path} could not be opened before the fault: {status}")
        return socket

    async def try_to_open(self, node, opened):
        """What becomes of a new connection. It stays open, so that its descriptor stays taken."""
        try:
            reader, writer = await node.open()
            opened.append(writer)
            writer.write(b"GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n")
            async with Limit(5):
                await reader.readuntil(b"\r\n")
            return "answered"
        except asyncio.TimeoutError:
            return "silent"
        except (OSError, EOFError):
            return "refused"

    async def use_kept(self, node, sockets):
        """Asks on each connection that was open before, and sends on each socket. None needs a new connection to the
        upstream, which may be refused for the same reason."""
        current = dict(token=self.soak.pair["access_token"])
        paths = [*["/.well-known/jwks.json"] * 3, f"/api/session/{self.soak.pair['session_id']}"]
        if len(node.idle) != len(paths):
            return self.oracle.fault(f"only {len(node.idle)} of {len(paths)} kept connections are open")
        statuses = await asyncio.gather(*(self.status(node, path, **current) for path in paths))
        if set(statuses) != {200}:
            self.oracle.fault(f"requests on connections that were open before were answered {statuses}")
        for socket in filter(None, sockets):
            try:
                socket.send("still here")
                async with Limit(5):
                    opcode, payload = await socket.frame()
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                opcode, payload = None, repr(error).encode()
            if (opcode, payload) != (1, b"still here"):
                self.oracle.fault(f"a socket that was open before answered {opcode} {payload[:40]!r}")

    async def look_at_held(self, gateway):
        """The sockets that this node has held since the beginning must be there."""
        for held in self.soak.held:
            if held.port == gateway.port:
                report = await asyncio.to_thread(held.ask, "report 0")
                if report["open"] != held.count:
                    self.oracle.fault(f"{held.count - report['open']} sockets ({held.name}) were lost")

    async def disk_full(self):
        """SQLite on a small file system that fills up: what is answered 200 is kept, all else is 503."""
        if os.geteuid() != 0:
            return "left out: it takes root to make a file system"
        folder = self.soak.place.path / "small"
        folder.mkdir(exist_ok=True)
        mounted = await asyncio.to_thread(
            subprocess.run, ["mount", "-t", "tmpfs", "-o", "size=16m", "soak", folder], capture_output=True)
        if mounted.returncode != 0:
            return "left out: no file system could be mounted"
        soak = self.soak
        gateway = Gateway(
            soak.place, "small", f"sqlite:{folder}/state.sqlite", soak.place.path / "small-keys", soak.people,
            soak.upstream_port)
        try:
            await asyncio.to_thread(gateway.start)
            return await self.fill(gateway, folder)
        finally:
            if gateway.process and gateway.process.poll() is None:
                gateway.kill()
            subprocess.run(["umount", folder], check=False)

    async def fill(self, gateway, folder):
        node, kept, counts = Node("small", gateway.port), [], {}

        async def create(count):
            for _ in range(count):
                try:
                    answer = await node.ask("POST", "/api/session/create-anonymous", timeout=5)
                except Lost:
                    answer = None
                status = answer.status if answer else 0
                counts[status] = counts.get(status, 0) + 1
                if status == 200:
                    kept.append(answer.json)
                elif status != 503:
                    self.oracle.fault(f"on a full disk a session was answered {status}")

        await create(100)
        await asyncio.to_thread(
            subprocess.run, ["dd", "if=/dev/zero", f"of={folder}/filler", "bs=4096"], capture_output=True)
        # The log of SQLite may have room left.
        await create(400)
        (folder / "filler").unlink()
        back = await self.until_served(node)
        lost = 0
        for session in kept:
            answer = await node.ask("GET", "/api/session/current", secret=session["session_secret"])
            lost += answer.status != 200
        if lost:
            self.oracle.fault(f"{lost} sessions that were answered on a full disk are lost")
        told = ", ".join(f"{count} x {status or 'no answer'}" for status, count in sorted(counts.items()))
        return f"{told}; all {len(kept)} that were answered 200 are there; served again after {back:.1f} s"
