#!/usr/bin/env python3
"""Sign-ins through an identity provider beside proxied traffic. See ../README.md."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.measure import REPETITIONS, Table
from harness.place import LOAD_CORE, Place, free_port
from harness.servers import Gateway, settle, start_upstream

HERE = Path(__file__).resolve().parent
SIGN_INS = int(os.environ.get("BENCH_SIGN_INS", "200"))
REQUESTS = int(os.environ.get("BENCH_REQUESTS", "2000"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "5"))


class SignIn:
    def __init__(self, place):
        self.place = place
        port = free_port()
        # The provider would be another machine: it gives way to the generator of traffic, which has the same core.
        self.provider = place.start(
            [sys.executable, HERE / "provider.py", port], LOAD_CORE, ready="ready", favour=False)
        provider = f"""
identity_providers:
  - {{name: bench, issuer: "http://127.0.0.1:{port}", client_id: gate, client_secret: secret, tenant: bench}}
"""
        # Without real-time priority, under which the kernel doesn't tell the gateway's threads apart: which of them go
        # first on a busy core is what is measured.
        self.gateway = Gateway(place, start_upstream(place).port, provider, favour=False)

    def traffic(self):
        return self.place.load(
            "http-load", "--port", self.gateway.port, "--path", "/token/x", "--connections", 32, "--seconds", SECONDS,
            "--tokens", self.gateway.token_file, "--rate", REQUESTS)

    def sign_ins(self, seconds):
        # Without the priority of the generator of traffic, whose measurements must not wait for these.
        browsers = [sys.executable, HERE / "sign-ins.py", self.gateway.port, SIGN_INS, seconds]
        command = ["nice", "taskset", "-c", LOAD_CORE, *browsers]
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)

    def alone(self):
        p99 = self.traffic()["p99"]
        settle()
        return p99

    def run(self):
        table = Table("SignIn")
        # Discovery, keys and the people's accounts are there before it counts.
        self.sign_ins(5).communicate()
        alone, beside, rates = [self.alone()], [], []
        for _ in range(REPETITIONS):
            signing_in = self.sign_ins(SECONDS + 1)
            settle()
            beside.append(self.traffic()["p99"])
            told = json.loads(signing_in.communicate(timeout=60)[0])
            if told["failed"]:
                raise SystemExit(f"sign-ins failed: {told['failed']}")
            rates.append(told)
            settle()
            alone.append(self.alone())
        # Each beside the two without sign-ins around it, so that a machine that gets slower or faster is no difference.
        ratios = [b / (before * after) ** 0.5 for b, before, after in zip(beside, alone, alone[1:])]
        ratio = statistics.median(ratios)
        print("    p99 alone  (µs): " + " ".join(f"{value:,.0f}" for value in alone))
        print("    p99 beside (µs): " + " ".join(f"{value:,.0f}" for value in beside))
        low, _, high = statistics.quantiles(ratios, n=4)
        spread = f"half of {len(ratios)} ratios within {low:.2f} and {high:.2f}x"
        slow = statistics.median(told["p99"] for told in rates)
        rate = statistics.median(told["rate"] for told in rates)
        table.at_least("sign-ins a second / asked for", rate / SIGN_INS, 0.95, 0.99, f"{SIGN_INS}/s, p99 {slow:.0f} ms")
        table.at_most("p99 of proxied requests beside sign-ins / alone", ratio, 1.5, 1.2, "x",
            f"{REQUESTS} requests/s; {spread}")
        table.print()


with Place() as place:
    SignIn(place).run()
