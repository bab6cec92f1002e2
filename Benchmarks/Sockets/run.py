#!/usr/bin/env python3
"""`make bench-sockets`: WebSockets through Gatehouse beside HAProxy. See ../README.md."""

import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.measure import REPETITIONS, SECONDS, Subject, Table, cost_beside, interleave, ratio
from harness.place import Place, cpu_seconds, resident_bytes
from harness.servers import Gateway, HAProxy, settle, start_upstream

# Another build of the program, for the part `before`.
BEFORE = os.environ.get("GATEHOUSE_BEFORE")
EMBEDDED, RELAYED = "/api/runtime/agent", "/socket/x"


class Sockets:
    def __init__(self, place):
        self.place = place
        self.upstream = start_upstream(place)
        self.gateway = Gateway(place, self.upstream.port)
        self.peer = HAProxy(place, self.upstream.port, self.gateway.public_pem())
        self.table = Table("Sockets")
        self.count = 0

    def fresh_gateway(self, settings=""):
        self.count += 1
        return Gateway(self.place, self.upstream.port, settings, f"gateway-{self.count}")

    def options(self, gateway, path):
        return ["--port", gateway.port, "--path", path, "--tokens", gateway.token_file, "--field", gateway.owner]

    def subject(self, mode, name, server, port, path, tokens, connections, owner=None):
        def run():
            return self.place.load(
                "ws-load", mode, "--port", port, "--path", path, "--connections", connections, "--seconds", SECONDS,
                "--tokens", tokens, "--field", owner or self.gateway.owner)
        return Subject(name, server.pid, run)

    def hold(self, gateway, path, count):
        held = self.place.hold("ws-load", "hold", "--connections", count, *self.options(gateway, path))
        assert held.opened == {"open": count, "refused": 0}, held.opened
        return held

    def wait_until_quiet(self, held):
        """Every agent socket has had its `ready`: an idle one says nothing but pings."""
        seen = -1
        while (now := held.ask("report 0"))["bytes"] - 2 * now["pings"] != seen:
            seen = now["bytes"] - 2 * now["pings"]
            settle(2)

    # MARK: Against HAProxy

    def upgrades(self):
        one, many = self.gateway.token_file, self.gateway.many_tokens(20000, same_user=True)
        port = self.gateway.port
        ours = self.subject("upgrades", "gatehouse, same token", self.gateway, port, RELAYED, one, 32)
        cold = self.subject("upgrades", "gatehouse, another token each", self.gateway, port, RELAYED, many, 32)
        peer = self.subject("upgrades", "haproxy jwt_verify + tunnel", self.peer, self.peer.verified, "/x", one, 32)
        plain = self.subject("upgrades", "haproxy tunnel, no authentication", self.peer, self.peer.plain, "/x", one, 32)
        interleave(ours, cold, peer, plain)
        self.table.at_least(
            "upgrades/s incl. ownership / HAProxy jwt_verify + tunnel", ratio(ours, peer), 1, 2, "same token")
        self.table.at_least(
            "upgrades/s incl. ownership / HAProxy jwt_verify + tunnel", ratio(cold, peer), 1, 2, "another token each")

    def messages(self):
        one = self.gateway.token_file
        ours = self.subject("messages", "gatehouse relay", self.gateway, self.gateway.port, RELAYED, one, 64)
        peer = self.subject("messages", "haproxy tunnel", self.peer, self.peer.plain, "/x", one, 64)
        interleave(ours, peer)
        self.table.at_least(
            "relayed 128-byte messages/s / HAProxy tunnel", ratio(ours, peer), 0.8, 1, "64 sockets, ping-pong")

    def before(self):
        """This build beside another of the program, which GATEHOUSE_BEFORE names: nothing may get slower by more than
        3 %. Each kind is run at both in turns."""
        if not BEFORE:
            raise SystemExit("GATEHOUSE_BEFORE has to name the other binary")
        other = Gateway(self.place, self.upstream.port, name="gateway-before", binary=Path(BEFORE).resolve())
        for mode, what, path, connections in (
            ("upgrades", "relayed upgrade", RELAYED, 32), ("upgrades", "embedded upgrade", EMBEDDED, 32),
            ("messages", "relayed message", RELAYED, 64),
        ):
            now, then = (
                self.subject(mode, f"{name}: {what}", server, server.port, path, server.token_file, connections, server.owner)
                for name, server in (("now", self.gateway), ("before", other)))
            interleave(now, then, rounds=max(15, REPETITIONS))
            cost, note = cost_beside(now, then)
            self.table.at_most(f"CPU time of a {what}, now / before", cost, 1.03, 1, "x", note)

    # MARK: Held sockets

    def memory(self):
        for name, path, must, aim in (
            ("embedded (agent)", EMBEDDED, 12, 6), ("embedded (echo)", "/api/runtime/echo", 12, 6),
            ("relayed", RELAYED, 20, 10),
        ):
            gateway = self.fresh_gateway()
            count = 5000
            # The first requests include one-time costs.
            self.hold(gateway, path, 64).end()
            settle(1)
            before = resident_bytes(gateway.pid)
            held = self.hold(gateway, path, count)
            self.wait_until_quiet(held)
            each = (resident_bytes(gateway.pid) - before) / count / 1024
            self.table.at_most(f"memory of an idle socket, {name}", each, must, aim, " KB", f"{count:,} sockets")
            held.end()
            self.place.end(gateway.process)
        held = self.hold_at_peer(5000)
        self.place.end(held.process)

    def hold_at_peer(self, count):
        before = resident_bytes(self.peer.pid)
        held = self.place.hold(
            "ws-load", "hold", "--connections", count, "--port", self.peer.plain, "--path", "/x")
        settle(1)
        print(f"    haproxy tunnel: {(resident_bytes(self.peer.pid) - before) / count / 1024:.2f} KB each", flush=True)
        return held

    def revocation(self):
        for name, path in (("embedded", EMBEDDED), ("relayed", RELAYED)):
            gateway = self.fresh_gateway()
            held = self.hold(gateway, path, 5000)
            self.wait_until_quiet(held)
            began = time.monotonic_ns()
            caller = threading.Thread(target=gateway.logout)
            caller.start()
            caller.join()
            answered = (time.monotonic_ns() - began) / 1e6
            settle(2)
            result = held.ask(f"report {began}")
            assert result["closed"] == 5000 and result["4403"] == 5000, result
            self.table.at_most(
                f"logout to close of 5,000 sockets, p99, {name}", result["p99"], 100, 50, " ms",
                f"p50 {result['p50']:.0f} ms, last {result['max']:.0f} ms; logout answered after {answered:.0f} ms")
            held.end()
            self.place.end(gateway.process)

    def refresh(self):
        gateway = self.fresh_gateway("tokens: {access_token_lifetime: 10s, clock_skew: 0s}")
        began = time.monotonic()
        held = self.hold(gateway, EMBEDDED, 5000)
        time.sleep(max(0, 6 - (time.monotonic() - began)))
        held.ask("mark")
        gateway.refresh()
        time.sleep(max(0, 13 - (time.monotonic() - began)))
        result = held.ask("report 0")
        assert result["open"] == 5000, f"sockets died under a refresh: {result}"
        self.table.at_most(
            "bytes sent on 5,000 sockets that a refresh extends", result["bytes"], 0, 0, " bytes",
            "all open 3 s past the first token's end")
        time.sleep(max(0, 18 - (time.monotonic() - began)))
        ended = held.ask("report 0")
        assert ended["4401"] == 5000, f"the control failed: {ended}"
        print("    control: all 5,000 closed with 4401 at the second token's end", flush=True)
        held.end()
        self.place.end(gateway.process)

    def idle_cpu(self):
        count = min(15000, self.place.files - 500)
        gateway = self.fresh_gateway()
        held = self.hold(gateway, EMBEDDED, count)
        self.wait_until_quiet(held)
        seconds, pings = 30, held.ask("report 0")["pings"]
        before = cpu_seconds(gateway.pid)
        time.sleep(seconds)
        share = (cpu_seconds(gateway.pid) - before) / seconds * 100
        after = held.ask("report 0")
        assert after["open"] == count, after
        self.table.at_most(
            f"CPU with {count:,} idle sockets", share, 3, 1, " %", f"{seconds} s, {after['pings'] - pings:,} pings in it")
        held.end()
        self.place.end(gateway.process)


def main():
    parts = sys.argv[1:] or ["upgrades", "messages", "memory", "revocation", "refresh", "idle_cpu"]
    with Place() as place:
        sockets = Sockets(place)
        for part in parts:
            print(f"  {part}", flush=True)
            getattr(sockets, part)()
        sockets.table.print()


if __name__ == "__main__":
    main()
