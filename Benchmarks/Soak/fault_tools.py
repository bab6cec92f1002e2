"""What several faults of the soak need."""

import asyncio
import time

from cluster import GRACE
from wire import Lost


class FaultTools:
    def __init__(self, soak):
        self.soak, self.oracle = soak, soak.oracle

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

    @staticmethod
    async def status(node, path, **credentials):
        """The status of a GET; 0 where no answer comes."""
        try:
            return (await node.ask("GET", path, timeout=8, **credentials)).status
        except Lost:
            return 0
