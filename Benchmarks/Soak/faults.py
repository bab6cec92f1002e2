"""What goes wrong in the middle of the soak, one after the other, while everything else goes on."""

import asyncio
import math
import os
import signal
import subprocess
import time

from cluster import GRACE, PING, Gateway
from wire import Lost, Node


class Faults:
    def __init__(self, soak):
        self.soak, self.oracle = soak, soak.oracle

    async def run(self, pause):
        """One fault after the other, with a pause after each, in which nothing may be refused any more."""
        every = (
            self.killed, self.cut_off, self.clock_stepped, self.store_stopped, self.store_crashed, self.out_of_files,
            self.disk_full, self.failed_over, self.half_of_the_clients_gone)
        wanted = os.environ.get("FAULTS", "").split()
        for fault in every:
            if wanted and fault.__name__ not in wanted:
                continue
            began, wrong = time.monotonic(), len(self.oracle.wrong)
            self.oracle.disturb(math.inf)
            try:
                said = await fault()
            except (Exception, SystemExit) as error:
                # The run goes on and says so: half an hour must not be lost by it.
                self.oracle.fault(f"the fault itself failed: {error!r}")
                said = "failed"
            self.oracle.disturbed_until = time.monotonic() + 10
            took, found = time.monotonic() - began, len(self.oracle.wrong) - wrong
            print(f"    {fault.__name__}: {said} ({took:.0f} s{f', {found} WRONG' if found else ''})", flush=True)
            await asyncio.sleep(pause)

    def allow(self, *names, seconds):
        """For so long these nodes may let through what ended lately, within the grace."""
        for name in names:
            self.oracle.patience[name] = (time.monotonic() + seconds, GRACE + 2)

    async def until_served(self, node, seconds=30):
        """How long it takes until the node answers with the store's knowledge again."""
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            try:
                answer = await node.ask("POST", "/api/session/create-anonymous", timeout=3)
                if answer.status == 200:
                    return time.monotonic() - began
            except Lost:
                pass
            await asyncio.sleep(0.1)
        self.oracle.fault(f"{node.name} did not come back within {seconds} s")
        return seconds

    async def killed(self):
        """kill -9 of a node, and its return."""
        gateway, node = self.soak.b, self.soak.nodes["b"]
        gateway.kill()
        node.forget()
        await asyncio.sleep(2)
        await asyncio.to_thread(gateway.start)
        return f"served again {await self.until_served(node):.1f} s after its start"

    async def cut_off(self):
        """A node is stopped for longer than the grace, and goes on: it has missed what ended in the meantime."""
        gateway, node = self.soak.b, self.soak.nodes["b"]
        self.allow("b", seconds=GRACE + 2 + 10)
        await asyncio.to_thread(gateway.stop_for, GRACE + 2)
        return f"served again after {await self.until_served(node):.1f} s"

    async def clock_stepped(self):
        """The clock of a node is an hour ahead until the node is killed, and right when it starts; then it is set forth
        by an hour and right again, back and right again. The other nodes, the store and the clients are right all the
        time.

        What is expected of it stands in ../README.md: tokens count by the clock of the node that judges them, and
        nothing else may come of it."""
        gateway, node, counts = self.soak.b, self.soak.nodes["b"], self.oracle.counts
        before = counts.copy()
        gateway.clock.set(3600)
        # As long as the node needs to remove what has expired by its clock. What ended shortly before is then asked for
        # at the node that has not seen it end.
        await asyncio.sleep(3)
        gateway.kill()
        node.forget()
        gateway.clock.set(0)
        self.oracle.clock_is_right()
        await asyncio.to_thread(gateway.start)
        back = await self.until_served(node)
        await asyncio.sleep(10)
        for hours, seconds in ((1, 10), (0, 8), (-1, 10), (0, 8)):
            gateway.clock.set(hours * 3600)
            if not hours:
                self.oracle.clock_is_right()
            await asyncio.sleep(seconds)
        count = lambda text: sum(counts[name] - before[name] for name in counts if text in name)
        return (
            f"killed while it was ahead, served again after {back:.1f} s; {count('by the node'):,} tokens refused for "
            f"their time, {count('whose clock is wrong'):,} ended sessions refused meanwhile")

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

    async def out_of_files(self):
        """A node may open hardly any more descriptors."""
        gateway, node = self.soak.b, self.soak.nodes["b"]
        before = gateway.limit_files(gateway.descriptors() + 5)
        refused = 0
        opened = []
        for _ in range(40):
            try:
                reader, writer = await node.open()
                opened.append(writer)
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                await asyncio.wait_for(reader.readuntil(b"\r\n"), 0.3)
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                refused += 1
        for writer in opened:
            writer.transport.abort()
        gateway.limit_files(before)
        node.forget()
        return f"{refused} of 40 connections were not answered; served again after {await self.until_served(node):.1f} s"

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

    async def half_of_the_clients_gone(self):
        """Half of the held sockets' clients answer nothing any more, and do not close."""
        held = max(self.soak.held, key=lambda held: held.count)
        os.kill(held.process.pid, signal.SIGSTOP)
        # Two pings without an answer, and room for a busy machine.
        await asyncio.sleep(4 * PING + 5)
        os.kill(held.process.pid, signal.SIGCONT)
        # It finds what the gateway has closed meanwhile.
        await asyncio.sleep(2)
        gone = held.count - (await asyncio.to_thread(held.ask, "report 0"))["open"]
        if gone < held.count * 0.99:
            self.oracle.fault(f"only {gone} of {held.count} sockets without a client were closed")
        self.soak.held.remove(held)
        await asyncio.to_thread(held.end)
        return f"{gone:,} of {held.count:,} sockets were closed meanwhile"
