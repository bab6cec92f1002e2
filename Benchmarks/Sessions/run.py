#!/usr/bin/env python3
"""`make bench-sessions`: durable sessions on SQLite and PostgreSQL, memory, and two nodes. See ../README.md."""

import base64
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.measure import Table
from harness.place import HERE, LOAD_CORE, Place, free_port, pinned, resident_bytes
from harness.postgres import Postgres
from harness.servers import BINARY, EMAIL, PASSWORD, TENANT
from Soak.cluster import ISSUER, People

BENCH = Path(os.environ.get("SESSION_BENCH", HERE.parent / ".build/release/session-bench")).resolve()
MILLION = int(os.environ.get("BENCH_SESSIONS", "1000000"))
# Longer than for measurements of the processor alone, because a store has pauses of its own.
REPETITIONS = int(os.environ.get("BENCH_REPETITIONS", "3"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "3"))


class Node:
    """A gateway on any store. It shares both cores with its load, because the store's processes need one as well."""

    def __init__(self, place, name, state, keys=None, settings=""):
        self.directory = place.path / name
        self.directory.mkdir()
        self.state = state or f"sqlite:{self.directory}/state.sqlite"
        config = place.write(f"{name}.yaml", """
limits: {enabled: false}
log: {level: warning}
tokens: {issuer: "http://bench.test"}
""" + settings)
        self.options = ["--state", self.state, "--config", str(config)]
        port = free_port()
        command = [BINARY, "serve", "--listen", f"127.0.0.1:{port}", "--admin", "off", "--keys",
                   keys or self.directory / "keys", *self.options]
        began = time.monotonic()
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        place.running.append(self.process)
        if not self.process.stdout.readline().startswith("ready "):
            raise SystemExit(f"{name} did not start")
        self.start_seconds = time.monotonic() - began
        self.port, self.pid, self.place = port, self.process.pid, place

    def account(self):
        subprocess.run(
            [BINARY, "users", "add", EMAIL, "--tenant", TENANT, "--password-stdin", *self.options], input=PASSWORD,
            text=True, check=True, stdout=subprocess.DEVNULL)
        return self

    def login(self):
        session = self.call("POST", "/api/auth/login", {"email": EMAIL, "password": PASSWORD})
        self.token_file = self.place.write(f"token-{self.port}", session["access_token"] + "\n")
        return session

    def login_many(self, people):
        """Tokens of as many users, for generators."""
        answers = (self.call("POST", "/api/auth/login", {"subject_token": people.token(one)}) for one in range(people.count))
        self.token_file = self.place.write(f"tokens-{self.port}", "".join(f"{one['access_token']}\n" for one in answers))

    def call(self, method, path, body=None, headers=None):
        payload = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as link:
            link.sendall(head.encode() + b"\r\n" + payload)
            answer = b""
            while chunk := link.recv(65536):
                answer += chunk
        head, _, text = answer.partition(b"\r\n\r\n")
        if head.split()[1] not in (b"200", b"204"):
            raise SystemExit(f"{method} {path}: {answer.decode()}")
        return json.loads(text) if text else {}

    def load(self, upgrade=True):
        """Medians of several runs of the generator."""
        runs = []
        for _ in range(REPETITIONS):
            command = [self.place.path / "session-load", "--port", self.port, "--seconds", SECONDS]
            if upgrade:
                command += ["--token", self.token_file]
            done = subprocess.run(pinned(LOAD_CORE, command), stdout=subprocess.PIPE, check=True)
            runs.append(json.loads(done.stdout))
            if runs[-1]["failed"] or runs[-1]["bad_status"]:
                raise SystemExit(f"refused: {runs[-1]}")
        return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def begin_upgrades(nodes, seconds, each=None):
    """Connections that create sessions and upgrade each: `each` to a node, or 64 that are divided among the nodes."""
    command = lambda node: [node.place.path / "session-load", "--port", node.port, "--seconds", seconds, "--connections",
                            each or 64 // len(nodes), "--token", node.token_file]
    # Without priority: gateways, PostgreSQL and generators share both cores.
    return [subprocess.Popen(list(map(str, command(node))), stdout=subprocess.PIPE) for node in nodes]


def upgrades(nodes, each=None):
    """Upgrades a second of all nodes together."""
    runs = [json.loads(process.communicate(timeout=120)[0]) for process in begin_upgrades(nodes, SECONDS, each)]
    if any(run["failed"] or run["bad_status"] for run in runs):
        raise SystemExit(f"refused: {runs}")
    return sum(run["upgraded"] for run in runs)


def in_turns(*subjects):
    """What each has measured, one round after the other, so that ratios are of neighbours."""
    rounds = [[subject() for subject in subjects] for _ in range(max(5, REPETITIONS))]
    return list(zip(*rounds))


def ratio(ones, others):
    return statistics.median(one / other for one, other in zip(ones, others))


def listed(rates):
    return " ".join(f"{rate:,.0f}" for rate in rates)


class Own:
    """pgbench with 64 clients: `transactions` are its own script `simple-update`, which updates a row, reads it and
    adds a row of history in one durable transaction, about what a change of a session is; `updates` change a row each
    and do nothing else."""

    def __init__(self, server):
        self.where = ["-h", str(server.folder), "-U", "gatehouse", "postgres"]
        self.program = f"{server.binaries}/pgbench"
        # Rows of branches and tellers, which all clients would wait for, are not touched by either.
        subprocess.run([self.program, "-i", "-q", "-s", "2", *self.where], check=True, capture_output=True)

    def transactions(self):
        return self.rate("-b", "simple-update")

    def updates(self):
        script = "\\set aid random(1, 200000)\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"
        return self.rate("-f", "/dev/stdin", script=script)

    def rate(self, *what, script=""):
        done = subprocess.run(
            [self.program, "-n", "-M", "prepared", "-c", "64", "-j", "2", "-T", str(SECONDS), *what, *self.where],
            input=script, text=True, capture_output=True, check=True)
        return float(next(line for line in done.stdout.splitlines() if line.startswith("tps")).split()[2])


class Sessions:
    def __init__(self, place):
        self.place, self.table = place, Table("Sessions")
        source = Path(__file__).parent / "session-load.c"
        subprocess.run(["cc", "-O2", "-o", place.path / "session-load", source], check=True)

    def rate(self, what, value, must, aim, note=""):
        self.table.row(what, f"{value:,.0f}/s", f"{must:,}/s", f"{aim:,}/s", value >= must, value >= aim, note)

    def bench(self, *arguments):
        done = subprocess.run([BENCH, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
        return {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}

    # MARK: Rows

    def http(self):
        node = Node(self.place, "sqlite", None).account()
        node.login()
        made = node.load(upgrade=False)
        both = node.load()
        self.place.end(node.process)
        note = "p50 {p50:,.0f} µs, p99 {p99:,.0f} µs"
        self.rate("SQLite, anonymous creations over HTTP, 64 connections", made["rate"], 5000, 10000, note.format(**made))
        self.rate("SQLite, creations and upgrades over HTTP, 64 connections", both["rate"], 5000, 10000, note.format(**both))

    def store(self):
        rates = {}
        for group in (256, 1):
            rates[group] = statistics.median(
                self.bench("write", f"sqlite:{self.place.path}/w{group}-{i}.sqlite", group, 64, SECONDS)["writes_per_second"]
                for i in range(REPETITIONS))
        note = f"{rates[256]:,.0f}/s against {rates[1]:,.0f}/s"
        self.table.at_least("SQLite, 64 callers, grouping on / off", rates[256] / rates[1], 4, 5, note)

    def memory(self):
        url = f"sqlite:{self.place.path}/million.sqlite"
        small = f"sqlite:{self.place.path}/tenth.sqlite"
        for target, count in ((small, MILLION // 10), (url, MILLION)):
            self.bench("fill", target, count)
        few, many = self.bench("lookup", small, MILLION // 10), self.bench("lookup", url, MILLION)
        if (granted := many["lookups_granted_percent"]) < 99:
            raise SystemExit(f"only {granted} % of the lookups were answered from memory")
        took = many["lookup_nanoseconds"] / 1000
        self.table.at_most("lookup in memory", took, 1, 0.5, " µs", f"{MILLION:,} sessions, random")
        self.table.at_most(
            "lookup, ten times the sessions", many["lookup_nanoseconds"] / few["lookup_nanoseconds"], 2, 1.5, "x",
            f"{few['lookup_nanoseconds']} ns with a tenth; caches of the processor")
        self.table.at_most("memory with all of them in it", many["resident_mebibytes"], 1024, 800, " MiB")
        node = Node(self.place, "million", url)
        self.table.at_most("cold start on a store of that size", node.start_seconds, 10, 3, " s")
        self.table.at_most("the gateway after it", resident_bytes(node.pid) / 2**20, 1024, 200, " MiB")
        self.place.end(node.process)

    def postgres(self):
        server = Postgres(self.place)
        try:
            a = Node(self.place, "a", server.url).account()
            session = a.login()
            made, both = a.load(upgrade=False), a.load()
            note = "p50 {p50:,.0f} µs, p99 {p99:,.0f} µs"
            self.rate("PostgreSQL, anonymous creations over HTTP", made["rate"], 2000, 4000, note.format(**made))
            self.rate("PostgreSQL, creations and upgrades over HTTP", both["rate"], 2000, 4000, note.format(**both))
            b = Node(self.place, "b", server.url, keys=a.directory / "keys")
            times = sorted(self.revoke_to_close(a, b, session) for _ in range(200))
            self.table.at_most(
                "ended at one node until the other's socket has closed, p99", times[197] * 1000, 250, 100, " ms",
                f"200 times, median {times[100] * 1000:.1f} ms, most {times[-1] * 1000:.1f} ms")
            for node in (b, a):
                self.place.end(node.process)
        finally:
            server.end()

    def slow(self):
        """A PostgreSQL whose commit takes 2 ms longer: nothing may commit one at a time."""
        server = Postgres(self.place, delay=2000)
        try:
            own = Own(server)
            store = lambda name, *rest: lambda: self.bench(name, server.url, *rest, 64, SECONDS)[f"{name}s_per_second"]
            owns, bare, changed, made = in_turns(
                own.transactions, own.updates, store("change"), store("write", 256))
            print(f"    pgbench's transactions/s     {listed(owns)}\n    its bare updates of a row    {listed(bare)}\n"
                  f"    changes of sessions          {listed(changed)}\n    creations                    {listed(made)}",
                  flush=True)
            note = f"{{:,.0f}}/s beside {statistics.median(owns):,.0f}/s, without HTTP, 64 callers; bare updates {statistics.median(bare):,.0f}/s"
            self.table.at_least(
                "slow PostgreSQL, upgrades / pgbench's own transactions", ratio(changed, owns), 0.8, 1,
                note.format(statistics.median(changed)))
            self.table.at_least(
                "slow PostgreSQL, creations / pgbench's own transactions", ratio(made, owns), 1.2, 1.5,
                note.format(statistics.median(made)))
            self.slow_nodes(server)
        finally:
            server.end()

    def slow_nodes(self, server):
        """Two gateways on the slow store beside one, over HTTP, and how long an end takes from one to the other then."""
        # Many users, as in life: an upgrade counts the sessions of its user, which no limit here keeps few.
        people = People(self.place, 2_000)
        settings = f"""
sessions: {{per_user: 10000}}
issuers:
  - {{issuer: "{ISSUER}", jwks: {people.file}, audience: gatehouse, tenants: [{TENANT}]}}
"""
        a = Node(self.place, "slow-a", server.url, settings=settings).account()
        b = Node(self.place, "slow-b", server.url, keys=a.directory / "keys", settings=settings)
        session = a.login()
        for node in (a, b):
            node.login_many(people)
        ones, twos = in_turns(lambda: upgrades([a]), lambda: upgrades([a, b]))
        print(f"    upgrades/s of one gateway    {listed(ones)}\n    of two                       {listed(twos)}", flush=True)
        self.table.at_least(
            "slow PostgreSQL, upgrades of two gateways / of one, both cores full", ratio(twos, ones), 1, 1.2,
            f"{statistics.median(twos):,.0f}/s, {statistics.median(ones):,.0f}/s over HTTP, each preceded by a creation")
        # As in a fleet, each gateway brings its own callers. So few that neither core is full: what is left to wait for is
        # the store.
        ones, twos = in_turns(lambda: upgrades([a], 4), lambda: upgrades([a, b], 4))
        print(f"    upgrades/s of one, 4 callers {listed(ones)}\n    of two, 4 callers each       {listed(twos)}", flush=True)
        self.table.at_least(
            "slow PostgreSQL, upgrades of two gateways / of one, 4 callers each", ratio(twos, ones), 1, 1.8,
            f"{statistics.median(twos):,.0f}/s, {statistics.median(ones):,.0f}/s over HTTP, cores not full")
        load = begin_upgrades([a, b], 120)
        try:
            time.sleep(1)
            times, until = [], time.monotonic() + 60
            while len(times) < 200 and time.monotonic() < until:
                times.append(self.revoke_to_close(a, b, session))
            if any(process.poll() is not None for process in load):
                raise SystemExit("the load ended before the measurement")
        finally:
            for process in load:
                process.kill()
                process.wait()
        times.sort()
        self.table.at_most(
            "slow PostgreSQL, ended at one node until the other's socket has closed, under that load, p99",
            times[len(times) * 99 // 100] * 1000, 100, 50, " ms",
            f"{len(times)} times, median {times[len(times) // 2] * 1000:.1f} ms, most {times[-1] * 1000:.1f} ms")
        for node in (b, a):
            self.place.end(node.process)

    def revoke_to_close(self, a, b, session):
        bearer = {"Authorization": f"Bearer {session['access_token']}"}
        own = a.call("POST", "/api/session/create", {}, bearer)["session_id"]
        with socket.create_connection(("127.0.0.1", b.port), timeout=10) as link:
            key = base64.b64encode(os.urandom(16)).decode()
            link.sendall((
                f"GET /api/runtime/agent HTTP/1.1\r\nHost: 127.0.0.1:{b.port}\r\nConnection: Upgrade\r\n"
                f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
                f"Authorization: {bearer['Authorization']}\r\nSession-Id: {own}\r\n\r\n").encode())
            seen = b""
            while b'"ready"' not in seen:
                seen += link.recv(65536)
            began = time.monotonic()
            a.call("DELETE", f"/api/session/{own}", headers=bearer)
            frame = link.recv(65536)
            took = time.monotonic() - began
            if struct.unpack("!H", frame[2:4])[0] != 4403:
                raise SystemExit(f"closed with {frame!r}")
            return took


def main():
    with Place() as place:
        sessions = Sessions(place)
        rows = [sessions.http, sessions.store, sessions.memory, sessions.postgres, sessions.slow]
        for row in rows:
            if len(sys.argv) < 2 or row.__name__ in sys.argv[1:]:
                row()
        sessions.table.print()


if __name__ == "__main__":
    main()
