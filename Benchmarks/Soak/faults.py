"""What goes wrong in the middle of the soak, one after the other, while everything else goes on."""

import asyncio
import math
import os
import signal
import time

from cluster import GRACE, PING
from file_faults import FileFaults
from store_faults import StoreFaults


class Faults(StoreFaults, FileFaults):
    async def run(self, pause):
        """One fault after the other, with a pause after each, in which nothing may be refused any more."""
        every = (
            self.killed, self.cut_off, self.clock_stepped, self.store_stopped, self.store_crashed, self.store_cut_off,
            self.out_of_files, self.disk_full, self.failed_over, self.half_of_the_clients_gone)
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
