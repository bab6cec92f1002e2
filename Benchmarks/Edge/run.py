#!/usr/bin/env python3
"""`make bench-edge`: verified HTTP traffic through Gatehouse beside HAProxy. See ../README.md."""

import os
import socket
import statistics
import sys
import threading
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.measure import REPETITIONS, SECONDS, Subject, Table, cost_beside, interleave, ratio
from harness.place import LOAD_CORE, Place, forget_peak, free_port, peak_bytes, resident_bytes
from harness.servers import Gateway, HAProxy, settle, start_upstream

CONNECTIONS = 32
# Another build of the program, for the row `before`.
BEFORE = os.environ.pop("GATEHOUSE_BEFORE", None)
MIB = 1 << 20
# More than a gateway has room for, and more than are used in one run.
COLD_TOKENS = 100_000


class Edge:
    def __init__(self, place):
        self.place = place
        self.upstream = start_upstream(place)
        self.gateway = Gateway(place, self.upstream.port)
        self.peer = HAProxy(place, self.upstream.port, self.gateway.public_pem())
        self.table = Table("Edge")
        self.half_load = 0

    def subject(self, name, server, port, path, tokens, *more):
        def run():
            return self.place.load(
                "http-load", "--port", port, "--path", path, "--connections", CONNECTIONS, "--seconds", SECONDS,
                "--tokens", tokens, *more)
        return Subject(name, server.pid, run)

    # MARK: Requests a second

    def throughput(self):
        one = self.gateway.token_file
        ours = self.subject("gatehouse, same token", self.gateway, self.gateway.port, "/token/x", one)
        owned = self.subject(
            "gatehouse, same token + session", self.gateway, self.gateway.port, "/owned/x", one, "--field",
            self.gateway.owner)
        verified = self.subject("haproxy jwt_verify ES256", self.peer, self.peer.verified, "/x", one)
        plain = self.subject("haproxy, no authentication", self.peer, self.peer.plain, "/x", one)
        direct = self.subject("upstream itself", self.upstream, self.upstream.port, "/x", one)
        # Runs that are compared are adjacent.
        interleave(verified, ours, plain, owned, direct)
        self.table.at_least("same ES256 token, proxied / HAProxy jwt_verify", ratio(ours, verified), 5, 8)
        self.table.at_least("the same / HAProxy without authentication", ratio(ours, plain), 0.8, 1)
        self.table.at_least("with session ownership / HAProxy without authentication", ratio(owned, plain), 0.8, 1)
        self.half_load = int(min(ours.rate, plain.rate) / 2)

    def cold(self):
        users = self.gateway.many_tokens(COLD_TOKENS)
        alike = self.gateway.many_tokens(COLD_TOKENS, same_user=True)
        ours = self.subject("gatehouse, another user each time", self.gateway, self.gateway.port, "/token/x", users)
        same = self.subject("gatehouse, one user's tokens", self.gateway, self.gateway.port, "/token/x", alike)
        verified = self.subject("haproxy jwt_verify ES256", self.peer, self.peer.verified, "/x", users)
        interleave(ours, same, verified)
        self.table.at_least(
            "every request another token / HAProxy ES256", ratio(ours, verified), 1, 1.2, f"{COLD_TOKENS:,} users")
        self.table.at_least(
            "every request another token / HAProxy ES256", ratio(same, verified), 1, 1.2, "one user's tokens")

    def decision(self):
        one = self.gateway.token_file
        ours = self.subject("gatehouse /api/auth/verify", self.gateway, self.gateway.port, "/api/auth/verify", one)
        peer = self.subject("haproxy deny/allow on ES256", self.peer, self.peer.decision, "/x", one)
        interleave(ours, peer)
        self.table.at_least("/api/auth/verify / HAProxy deciding on ES256", ratio(ours, peer), 5, 8)

    def records(self):
        """What metrics that are read each second, the access log and tracing cost, beside a gateway that has none of them.
        Counting itself is always on, and can't be compared so: its instructions are in docs/performance.md."""
        collector, _ = self.place.start([self.place.path / "upstream", "--port", port := free_port()], LOAD_CORE, "ready")
        one = f"otlp: http://127.0.0.1:{port}, ratio"
        kinds = {
            "off": "",
            "metrics read each second": f"server: {{threads: 1, idle_timeout: 10m, admin: 127.0.0.1:{free_port()}}}",
            "access log to a file": f"log: {{level: warning, access: {self.place.path}/access.log}}",
            "tracing at 1 %": f"tracing: {{{one}: 0.01}}",
        }
        subjects = []
        for name, settings in kinds.items():
            gateway = Gateway(self.place, self.upstream.port, settings, f"gateway-{len(subjects)}")
            subjects.append(self.subject(name, gateway, gateway.port, "/token/x", gateway.token_file))
            if gateway.admin:
                subjects[-1].run = self.while_read(gateway.admin, subjects[-1].run)
        interleave(*subjects, rounds=max(15, REPETITIONS))
        for subject in subjects[1:]:
            cost, note = cost_beside(subject, subjects[0])
            self.table.at_most(f"CPU time of a proxied request with {subject.name} / without", cost, 1.03, 1.01, "x", note)
        self.place.end(collector)

    @staticmethod
    def while_read(admin, run):
        """The same load while /metrics is read once a second, as by a Prometheus in a hurry."""
        def both():
            over = threading.Event()

            def read():
                while not over.wait(1 if SECONDS > 1 else 0.6):
                    with urllib.request.urlopen(f"http://{admin}/metrics", timeout=10) as answer:
                        answer.read()
            reader = threading.Thread(target=read)
            reader.start()
            try:
                return run()
            finally:
                over.set()
                reader.join()
        return both

    def rights(self):
        """What `allow` and what an upstream is told of an account cost, beside a route that has neither: two routes of
        one gateway, so that nothing else differs."""
        upstream = f'upstream: "http://127.0.0.1:{self.upstream.port}", require: token, strip_prefix: true'
        allow = "{groups: [admins, staff], email_domains: [example.com], tenants: [bench]}"
        gateway = Gateway(self.place, self.upstream.port, name="gateway-rights", routes=f"""
  - {{path: /plain, {upstream}, identity: [user, tenant, scope, assertion]}}
  - {{path: /rights, {upstream}, allow: {allow}}}
""")
        gateway.set_account("--name", "Ada Lovelace", "--group", "staff", "--group", "night shift")
        one = gateway.token_file
        plain = self.subject("neither", gateway, gateway.port, "/plain/x", one)
        rights = self.subject("allow, e-mail, name and groups", gateway, gateway.port, "/rights/x", one)
        interleave(plain, rights, rounds=max(15, REPETITIONS))
        cost, note = cost_beside(rights, plain)
        self.table.at_most(
            "CPU time of a proxied request with allow, e-mail, name and groups / without", cost, 1.03, 1.01, "x", note)

    def before(self):
        """This build beside another of the program, which GATEHOUSE_BEFORE names: nothing may get slower by more than
        3 %. Each kind of request is made to both in turns. Of a user, an older build may tell the upstream less: the row
        of another user's token that tells user, tenant, scope and assertion alone is the one that compares the same work."""
        if not BEFORE:
            raise SystemExit("GATEHOUSE_BEFORE has to name the other binary")
        ours = Gateway(self.place, self.upstream.port, name="gateway-now", routes=f"""
  - {{path: /less, upstream: "http://127.0.0.1:{self.upstream.port}", require: token, strip_prefix: true, identity: [user, tenant, scope, assertion]}}
""")
        other = Gateway(self.place, self.upstream.port, name="gateway-before", binary=Path(BEFORE).resolve())
        for what, path, path_before, cold in (
            ("proxied, same token", "/token/x", "/token/x", False),
            ("proxied, same token and session", "/owned/x", "/owned/x", False),
            ("proxied, every request another user's token, told as before", "/less/x", "/token/x", True),
            ("proxied, every request another user's token", "/token/x", "/token/x", True),
            ("decided by /api/auth/verify", "/api/auth/verify", "/api/auth/verify", False),
        ):
            now, then = (
                self.subject(
                    f"{name}: {what}", server, server.port, server_path,
                    server.many_tokens(COLD_TOKENS) if cold else server.token_file,
                    *(("--field", server.owner) if "session" in what else ()))
                for name, server, server_path in (("now", ours, path), ("before", other, path_before)))
            interleave(now, then, rounds=max(15, REPETITIONS))
            cost, note = cost_beside(now, then)
            self.table.at_most(f"CPU time of a request {what}, now / before", cost, 1.03, 1, "x", note)

    # MARK: Latency

    def latency(self):
        if not self.half_load:
            self.throughput()
        one, rate = self.gateway.token_file, self.half_load
        subjects = [
            self.subject("gatehouse", self.gateway, self.gateway.port, "/token/x", one, "--rate", rate),
            self.subject("haproxy, no authentication", self.peer, self.peer.plain, "/x", one, "--rate", rate),
            self.subject("upstream itself", self.upstream, self.upstream.port, "/x", one, "--rate", rate),
        ]
        p99 = {subject.name: [] for subject in subjects}
        for _ in range(max(5, REPETITIONS)):
            for subject in subjects:
                p99[subject.name].append(subject.measure()["p99"])
        for name, values in p99.items():
            each = " ".join(f"{value:,.0f}" for value in values)
            middle = statistics.median(values)
            print(f"    {name:34} p99 {min(values):,.0f} µs, median {middle:,.0f}   ({each})", flush=True)
        # A pause of the machine only adds to it, so the lowest is the server's own.
        ours, plain, direct = (min(values) for values in p99.values())
        self.table.at_most(
            "added latency p99 at half load / HAProxy's", max(0, ours - direct) / max(1, plain - direct), 1.5, 1, "x",
            f"{rate:,} requests/s: +{ours - direct:,.0f} µs, HAProxy +{plain - direct:,.0f} µs")

    # MARK: Memory

    def large_bodies(self):
        growth = []
        for send, name in ((self.upload, "upload"), (self.download, "download")):
            self.gateway_request()
            before = resident_bytes(self.gateway.pid)
            forget_peak(self.gateway.pid)
            send(1 << 30)
            growth.append((peak_bytes(self.gateway.pid) - before) / MIB)
            print(f"    1 GiB {name}: peak {growth[-1]:.2f} MiB over {before / MIB:.1f} MiB", flush=True)
        self.table.at_most(
            "1 GiB body: growth of resident memory", max(growth), 8, 2, " MiB", "peak; the larger of both ways")

    def connect(self):
        stream = socket.create_connection(("127.0.0.1", self.gateway.port), timeout=60)
        return stream, f"Host: x\r\nAuthorization: Bearer {self.gateway.token}\r\n"

    def gateway_request(self):
        stream, fields = self.connect()
        with stream:
            stream.sendall(f"GET /token/x HTTP/1.1\r\n{fields}Connection: close\r\n\r\n".encode())
            while stream.recv(65536):
                pass

    def upload(self, size):
        stream, fields = self.connect()
        with stream:
            stream.sendall(f"POST /token/x HTTP/1.1\r\n{fields}Content-Length: {size}\r\n\r\n".encode())
            part = b"u" * MIB
            for _ in range(size // MIB):
                stream.sendall(part)
            answer = stream.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200"), answer

    def download(self, size):
        stream, fields = self.connect()
        with stream:
            stream.sendall(f"GET /token/source/{size} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n".encode())
            got, room = 0, bytearray(MIB)
            while count := stream.recv_into(room):
                got += count
            assert got > size, got

    def idle_connections(self):
        count = 4000
        each = {}
        for name, pid, port, path in (
            ("gatehouse", self.gateway.pid, self.gateway.port, "/token/x"),
            ("haproxy", self.peer.pid, self.peer.plain, "/x"),
        ):
            figures = []
            for _ in range(3):
                before = resident_bytes(pid)
                held = self.place.hold(
                    "http-load", "--port", port, "--path", path, "--connections", count, "--tokens",
                    self.gateway.token_file, "--hold", "yes")
                assert held.opened["open"] == count and not held.opened["bad_status"], held.opened
                settle(1)
                figures.append((resident_bytes(pid) - before) / count)
                held.end()
                settle(1)
            # Only the first round takes memory from the system; later ones reuse what it freed.
            each[name] = max(figures)
            listed = " ".join(f"{figure:,.0f}" for figure in figures)
            print(f"    {name:34} {each[name]:,.0f} bytes each   ({listed})", flush=True)
        self.table.at_most(
            "idle keep-alive connections: memory each / HAProxy's", each["gatehouse"] / each["haproxy"], 3, 1.5, "x",
            f"{each['gatehouse']:,.0f} bytes, HAProxy {each['haproxy']:,.0f} ({count:,} connections)")


def main():
    parts = sys.argv[1:] or ["idle_connections", "throughput", "records", "rights", "cold", "decision", "latency", "large_bodies"]
    with Place() as place:
        edge = Edge(place)
        for part in parts:
            print(f"  {part}", flush=True)
            getattr(edge, part)()
        edge.table.print()


if __name__ == "__main__":
    main()
