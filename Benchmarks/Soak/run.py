#!/usr/bin/env python3
"""`make soak`: sockets held, people signing in and out, attacks and faults, all at once. See ../README.md."""

import asyncio
import collections
import gc
import logging
import os
import resource
import signal
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
# Attackers go on writing after the gateway has closed their connections.
logging.getLogger("asyncio").setLevel(logging.ERROR)
# Processes share the cores as the system decides.
os.environ["BENCH_FAVOUR"] = "no"

from admin import Admin, Reloader
from attackers import Attackers
from cluster import TOKEN_LIFETIME, Gateway, People, certificate
from disabling import Disablers
from endings import ENDS
from faults import Faults
from oracle import Oracle
from verdict import Verdict
from wire import Lost, Node
from workers import Workers

from harness import place as places
from harness.place import Place, resident_bytes
from harness.postgres import Postgres
from harness.servers import start_upstream

MINUTES = float(os.environ.get("MINUTES", "30"))
SOCKETS = int(os.environ.get("SOCKETS", "15000"))
SIGN_INS = float(os.environ.get("SIGN_INS", "200"))
# Proxied requests of the honest client whose latency is measured, a second.
HONEST = int(os.environ.get("HONEST", "500"))
# The attacks' rates and numbers are multiplied by this.
ATTACKS = float(os.environ.get("ATTACKS", "1"))
SLICE = 5
# What leaves a revocation.
REVOKING = [*(f"{kind} {status}" for kind, status in ENDS.items()), "revocation of a token 200"]

Rates = collections.namedtuple("Rates", "sign_ins refreshes probes ends revocations races sockets live")


class Soak:
    def __init__(self, place):
        self.place = place
        self.people = People(place, 500)
        self.postgres = Postgres(place, beside=True)
        upstream = start_upstream(place)
        self.upstream_port = upstream.port
        tls, client = certificate(place)
        keys = place.path / "keys"
        make = lambda name, *more: Gateway(place, name, self.postgres.url, keys, self.people, upstream.port, *more)
        self.a, self.b, self.c = make("a"), make("b"), make("c", tls)
        self.a.account()
        self.client = self.a.oauth_client("soak")
        self.gateways = (self.a, self.b, self.c)
        for gateway in self.gateways:
            gateway.start()
        self.history = open(place.path / "history.jsonl", "w")
        self.oracle = Oracle(self.history)
        self.nodes = {
            "a": Node("a", self.a.port, self.a.clock), "b": Node("b", self.b.port, self.b.clock),
            "c": Node("c", self.c.port, self.c.clock, client("http/1.1")),
        }
        self.secure = Node("c", self.c.port, self.c.clock, client("h2"))
        live = max(50, int(SIGN_INS * 5))
        # Every session is refreshed well before its token ends.
        self.rates = Rates(SIGN_INS, live / (TOKEN_LIFETIME / 3), SIGN_INS, SIGN_INS, SIGN_INS / 40, 2, 50, live)
        self.samples, self.latencies, self.held = [], collections.defaultdict(list), []
        self.lags = collections.defaultdict(list)
        self.tasks = []
        self.status = 1

    # MARK: Held sockets and honest traffic

    def hold(self):
        """Opens the sockets: half embedded with messages, and others embedded and silent, relayed, and over HTTP/2. A
        message goes there and back on each once in half a minute."""
        self.pair = self.a.login()
        token = self.place.write("held.token", self.pair["access_token"] + "\n")
        http2 = (sys.executable, Path(__file__).with_name("http2-hold.py"), "--ca", self.place.path / "tls.pem")
        every = ("--every", 30_000)
        for name, port, path, count, program, more in (
            ("embedded, silent", self.a.port, "/api/runtime/agent", SOCKETS * 15 // 100, ("ws-load", "hold"), ()),
            ("embedded", self.a.port, "/api/runtime/echo", SOCKETS * 50 // 100, ("ws-load", "hold"), every),
            ("relayed", self.a.port, "/socket/x", SOCKETS * 25 // 100, ("ws-load", "hold"), every),
            ("HTTP/2, embedded", self.c.port, "/api/runtime/echo", SOCKETS * 5 // 100, http2, every),
            ("HTTP/2, relayed", self.c.port, "/socket/x", SOCKETS * 5 // 100, http2, every),
        ):
            held = self.place.hold(
                *program, "--connections", count, "--port", port, "--path", path, "--tokens", token, "--field",
                f"Session-Id: {self.pair['session_id']}", *more)
            if held.opened != {"open": count, "refused": 0}:
                raise SystemExit(f"the sockets ({name}) could not be opened: {held.opened}")
            held.count, held.name, held.port = count, name, port
            self.held.append(held)

    async def keep_held(self):
        """Extends the held sockets by refreshes, and tries again while the store is away."""
        while True:
            await asyncio.sleep(TOKEN_LIFETIME / 4)
            while True:
                try:
                    answer = await asyncio.to_thread(
                        self.a.call, "/api/auth/refresh", {"refresh_token": self.pair["refresh_token"]})
                    self.pair.update(answer)
                    break
                except OSError:
                    await asyncio.sleep(0.5)

    async def honest(self):
        """Slices of proxied requests at a fixed rate. None of them may fail, whatever goes on."""
        while True:
            token = self.place.write("honest.token", self.pair["access_token"] + "\n")
            result = await asyncio.to_thread(
                self.place.load, "http-load", "--port", self.a.port, "--path", "/token/x", "--connections", 32,
                "--seconds", SLICE, "--rate", HONEST, "--tokens", token)
            self.latencies[self.phase].append(result["p99"])
            bad = result["failed"] + result["bad_status"]
            if bad:
                self.oracle.fault(f"{bad} of the honest requests failed", phase=self.phase, **result)

    async def watch(self):
        """Samples memory and descriptors of the nodes that live through everything."""
        began = time.monotonic()
        while True:
            for gateway in (self.a, self.c):
                memory = await asyncio.to_thread(resident_bytes, gateway.pid)
                self.samples.append(
                    (time.monotonic() - began, self.phase, gateway.name, memory / 1024, gateway.descriptors()))
            self.history.flush()
            await asyncio.sleep(1)

    async def lag(self):
        """How late this program is itself: what its clients see is late by as much."""
        while True:
            due = time.monotonic() + 0.1
            await asyncio.sleep(0.1)
            self.lags[self.phase].append(time.monotonic() - due)

    # MARK: The run

    def begin(self, coroutine):
        task = asyncio.create_task(coroutine)
        task.add_done_callback(self.ended)
        self.tasks.append(task)

    def ended(self, task):
        """A part of the soak itself must not end by an error unnoticed."""
        if not task.cancelled() and task.exception():
            self.oracle.fault(f"the soak itself failed: {task.exception()!r}")

    def enter(self, phase, seconds):
        self.phase = phase
        print(f"  {phase}{f', {seconds:.0f} s' if seconds else ''}", flush=True)

    async def run(self):
        whole = MINUTES * 60
        self.phase = "opening"
        await asyncio.to_thread(self.hold)
        print(f"  {sum(held.count for held in self.held):,} sockets are open", flush=True)
        self.enter("calm", whole / 10)
        self.begin(self.keep_held())
        self.begin(self.watch())
        self.begin(self.lag())
        self.begin(self.honest())
        for gateway in self.gateways:
            own = Node(gateway.name, gateway.port, gateway.clock, self.nodes[gateway.name].tls)
            self.begin(Reloader(self.oracle, gateway, own).run())
        await asyncio.sleep(max(3 * SLICE, whole / 10))
        nodes, admins = list(self.nodes.values()), {gateway.name: Admin(gateway) for gateway in self.gateways}
        workers = Workers(self.oracle, nodes, self.people, self.rates, admins, self.client)
        for task in workers.tasks():
            self.begin(task)
        for task in Disablers(self.oracle, self.a, nodes, self.people, workers).tasks():
            self.begin(task)
        self.enter("used", whole / 10)
        # The first sessions have to be made before they can be used.
        self.oracle.disturb(10)
        await asyncio.sleep(whole / 10)
        attackers = Attackers(self.oracle, self.nodes["a"], self.secure, self.nodes["c"], ATTACKS)
        for task in attackers.tasks():
            self.begin(task)
        self.enter("attacked", whole * 5 / 10)
        before, began, spent = self.oracle.counts.copy(), time.monotonic(), time.process_time()
        await asyncio.sleep(whole * 5 / 10)
        a_second = lambda names: sum(self.oracle.counts[n] - before[n] for n in names) / (time.monotonic() - began)
        self.spent = (time.process_time() - spent) / (time.monotonic() - began)
        self.signed_in, self.ended_rate = a_second(["sign in 200"]), a_second(REVOKING)
        self.enter("faults", 0)
        await Faults(self).run(pause=min(12, whole / 100))
        self.enter("afterwards", whole / 10)
        await asyncio.sleep(whole / 10)
        # `asyncio.wait_for` may lose a cancellation when what it waits for is done in the same moment.
        left = set(self.tasks)
        while left:
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=1)
        await self.look_for_lost()
        self.status = Verdict(self, SIGN_INS, MINUTES).judge()

    async def look_for_lost(self):
        """Every session whose sign-in was answered, and whose end was not asked for, must be there on each node."""
        sessions = [one for one in self.oracle.live.values() if not one.is_doubtful and not one.busy]
        print(f"  looking for {len(sessions):,} sessions", flush=True)
        for session in sessions:
            for node in self.nodes.values():
                try:
                    answer = await node.ask("GET", f"/api/session/{session.id}", secret=session.secret)
                except Lost:
                    self.oracle.fault(f"{node.name} does not answer in the end")
                    return
                if answer.status == 503:
                    self.oracle.fault("the store does not answer in the end")
                elif answer.status != 200:
                    self.oracle.fault(
                        f"a success was lost: a live session is {answer.status} {answer.code} in the end",
                        session=session.id, node=node.name)
                elif answer.json.get("user_id") != session.owner:
                    self.oracle.fault("a second owner", session=session.id)


def main():
    # Of the node that holds nine tenths of them, a quarter of all relayed.
    need = SOCKETS * 115 // 100 + 2048
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < need:
        raise SystemExit(f"{need} descriptors are needed, and {hard} allowed (ulimit -Hn): set SOCKETS lower")
    places.LOAD_CORE = places.SERVER_CORE = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    # Thousands of clients are many objects, and few of them are garbage that only a search finds.
    gc.set_threshold(50_000, 20, 50)
    # Told to end, it ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Place() as place:
        place.give_way()
        soak = Soak(place)
        try:
            asyncio.run(soak.run())
        finally:
            soak.postgres.end()
        return soak.status


if __name__ == "__main__":
    sys.exit(main())
