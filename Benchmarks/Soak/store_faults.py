"""PostgreSQL goes away, for all nodes of the soak or for one that is cut off from it."""

import asyncio
import signal
import struct
import sys
import time
from pathlib import Path

from cluster import GRACE
from fault_tools import FaultTools
from wire import Node

PROGRAM = Path(__file__).with_name("store-proxy.py")
SHORT, LONG = GRACE / 2, GRACE + 8
# What happens to the bytes, in which direction ("up" is to PostgreSQL), and for how long.
CUTS = (
    ("hold", "both", SHORT), ("lose", "up", SHORT), ("lose", "down", SHORT), ("close", "both", SHORT),
    ("lose", "both", LONG), ("hold", "up", LONG))
# Service is promised within so many seconds after the store is back.
PROMISED = 10


class StoreFaults(FaultTools):
    async def store_stopped(self):
        """PostgreSQL ends its connections and returns before the grace is over."""
        return await self.store(signal.SIGINT, 3)

    async def store_crashed(self):
        """PostgreSQL stops in the middle of everything, as by a crash."""
        return await self.store(signal.SIGQUIT, 2)

    async def store(self, how, pause):
        names = list(self.soak.nodes)
        self.allow(*names, seconds=pause + 25)
        await asyncio.to_thread(self.soak.postgres.stop, how)
        await asyncio.sleep(pause)
        await asyncio.to_thread(self.soak.postgres.start)
        times = await asyncio.gather(*(self.until_served(self.soak.nodes[name]) for name in names))
        self.allow(*names, seconds=12)
        return f"away for {pause} s, served again after {max(times):.1f} s"

    async def failed_over(self):
        """A standby that every commit waits for is made; PostgreSQL dies, and the standby takes over for good."""
        soak, names = self.soak, list(self.soak.nodes)
        former = soak.postgres
        standby = await asyncio.to_thread(former.follow)
        # Commits wait for it for a while.
        await asyncio.sleep(3)
        self.allow(*names, seconds=30)
        await asyncio.to_thread(former.stop, signal.SIGQUIT)
        soak.postgres, standby.beside = standby, former.folder
        await asyncio.sleep(1)
        began = time.monotonic()
        await asyncio.to_thread(standby.promote)
        promoted = time.monotonic() - began
        times = await asyncio.gather(*(self.until_served(soak.nodes[name]) for name in names))
        self.allow(*names, seconds=12)
        return f"promoted in {promoted:.1f} s, 1 s after the first had died; served again {max(times):.1f} s later"

    # MARK: One node cut off

    async def store_cut_off(self):
        """One node alone loses PostgreSQL, in each of several ways, and the others go on.

        It goes through a proxy, and only in this fault: all the time, the hop would take processor time of its own and
        show in the rate of sign-ins and in p99. So the node is started anew before and after."""
        gateway, direct = self.soak.b, self.soak.b.state
        place = next(path for path in self.soak.postgres.folder.glob(".s.PGSQL.*") if path.suffix != ".lock")
        proxy = await asyncio.to_thread(self.soak.place.hold, sys.executable, PROGRAM, "--target", place)
        url = f"postgresql://gatehouse@127.0.0.1:{proxy.opened['port']}/postgres?target_session_attrs=read-write"
        try:
            await self.restart(gateway, url)
            told = [await self.cut(gateway, proxy, *cut) for cut in CUTS]
        finally:
            await self.restart(gateway, direct)
            await asyncio.to_thread(proxy.end)
        return "served again after " + ", ".join(told)

    async def restart(self, gateway, state):
        if gateway.process.poll() is not None:
            self.oracle.fault(f"{gateway.name} has ended by itself")
        gateway.kill()
        self.soak.nodes[gateway.name].forget()
        gateway.state = state
        await asyncio.to_thread(gateway.start)
        await self.until_served(self.soak.nodes[gateway.name])

    async def cut(self, gateway, proxy, how, way, seconds):
        """What the node has verified before goes on while the cut is shorter than the grace, and is refused when the
        grace is over."""
        name = f"{how} {way} for {seconds:.0f} s"
        # Those of the workers may all wait for an answer.
        node = Node(gateway.name, gateway.port, gateway.clock)
        credentials = dict(token=self.soak.pair["access_token"], session=self.soak.pair["session_id"])
        socket = await self.verify(node, credentials)
        if not socket:
            return f"{name}: not tried"
        self.allow(gateway.name, seconds=seconds + 25)
        await asyncio.to_thread(proxy.ask, f"{how} {way}")
        began = time.monotonic()
        reading = asyncio.create_task(read(socket))
        try:
            if seconds < GRACE:
                await asyncio.sleep(SHORT * 2 / 3)
                await self.expect(node, credentials, 200, f"{SHORT * 2 / 3:.0f} s into '{name}'")
                if reading.done():
                    self.oracle.fault(f"a socket was closed within the grace: {reading.result()}, '{name}'")
            else:
                await asyncio.sleep(GRACE + 3)
                await self.expect(node, credentials, 503, f"after the grace of '{name}'")
                code = reading.result() if reading.done() else "not at all"
                if code != 1013:
                    self.oracle.fault(f"a socket was closed {code} after the grace of '{name}', and not 1013")
            await asyncio.sleep(max(0, began + seconds - time.monotonic()))
        finally:
            done = await asyncio.to_thread(proxy.ask, "pass")
            reading.cancel()
            socket.cut()
        back = await self.until_served(node, PROMISED)
        # What was asked before the node knew all again may be answered only now.
        self.allow(gateway.name, seconds=6)
        node.forget()
        if not done["affected"]:
            self.oracle.fault(f"nothing was cut by '{name}': {done}")
        return f"{back:.1f} s ({name})"

    async def verify(self, node, credentials):
        """Has the node see token and session, and opens a socket, which it admits only when its feed is up to date."""
        seen = []
        for _ in range(50):
            seen = [await self.status(node, path, **credentials) for path in ("/token/x", "/owned/x")]
            if set(seen) == {200}:
                status, socket = await node.upgrade("/api/runtime/echo", **credentials)
                if socket:
                    return socket
                seen.append(status)
            await asyncio.sleep(0.2)
        self.oracle.fault(f"{node.name} did not serve before it was cut off: {seen}")
        return None

    async def expect(self, node, credentials, wanted, when):
        for path in ("/token/x", "/owned/x"):
            status = await self.status(node, path, **credentials)
            if status != wanted:
                self.oracle.fault(f"{path} at {node.name} was answered {status or 'not at all'} {when}, not {wanted}")


async def read(socket):
    """Answers pings until the socket is closed; returns the code, or what happened to the connection."""
    try:
        while True:
            opcode, payload = await socket.frame()
            if opcode == 8:
                return struct.unpack("!H", payload[:2])[0] if len(payload) > 1 else 1005
    except (OSError, EOFError) as error:
        return repr(error)
