#!/usr/bin/env python3
"""Measures JOSE beside libcrypto alone, JWTKit, libjwt and PyJWT: one core, one run, one table.

Rates count processor time, so that what else the machine does is not in them. JOSE, JWTKit and the bare primitive
take turns of four milliseconds in one process; the median turn counts. Instructions come from callgrind: the
difference between a long and a short run. `BENCH_INSTRUCTIONS=0` leaves them out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ALGORITHMS = {"ES256": "ecdsap256", "RS256": "rsa2048", "EdDSA": "ed25519"}
FLOORS = {"verify": 0.90, "sign": 0.85}
# As the Makefile builds the gateway.
RELEASE = ["--configuration", "release", "--static-swift-stdlib", "-Xswiftc", "-cross-module-optimization"]
core = str(max(os.sched_getaffinity(0)))


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def pinned(*command, **more):
    return output("taskset", "-c", core, *map(str, command), **more)


def table(title, heads, rows):
    cells = [heads, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    print(f"\n{title}\n")
    for number, row in enumerate(cells):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def build(directory):
    environment = os.environ.get("JOSE_BENCHMARK")
    if environment:
        binary = Path(environment)
    else:
        # Built like the release; valgrind cannot load Foundation's dynamic library either.
        command = ["swift", "build", *RELEASE, "--product", "jose-benchmark"]
        subprocess.run(command, cwd=HERE, check=True)
        binary = HERE / ".build/release/jose-benchmark"
    # Without debug information, whose format callgrind cannot read.
    lean = directory / "jose-benchmark"
    subprocess.run(["strip", "--strip-debug", "-o", lean, binary], check=True)
    counter = directory / "allocations.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", counter, HERE / "rivals/allocations.c"], check=True)
    libjwt = directory / "libjwt"
    if subprocess.run(["cc", "-O2", "-o", libjwt, HERE / "rivals/libjwt.c", "-ljwt"], stderr=subprocess.DEVNULL).returncode:
        print("libjwt-dev is missing: its column stays empty", file=sys.stderr)
        libjwt = None
    return lean, counter, libjwt


def rival(program, directory, algorithm, operation, count):
    name = directory / algorithm
    return [*program, algorithm, operation, f"{name}.private.pem", f"{name}.public.pem", f"{name}.token",
            directory / "claims.json", count]


def openssl_speed():
    rates = {}
    for algorithm, name in ALGORITHMS.items():
        text = pinned("openssl", "speed", "-seconds", "2", name, stderr=None)
        sign, verify = re.findall(r"[0-9.]+", text.strip().splitlines()[-1].split("s ")[-1])[-2:]
        rates[algorithm, "sign"], rates[algorithm, "verify"] = float(sign), float(verify)
    return rates


def instructions(command, short, long):
    """Instructions per operation, from the difference of two runs."""

    def total(count):
        text = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command(count))],
            check=True, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"}).stderr
        return int(re.search(r"Collected : (\d+)", text)[1])

    return round((total(long) - total(short)) / (long - short))


def main():
    failures = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        binary, counter, libjwt = build(directory)
        pinned(binary, "files", directory)
        rates = {}
        for line in pinned(binary, "rates").splitlines():
            _, who, algorithm, operation, rate = line.split()
            rates[who, algorithm, operation] = int(rate)
        programs = {"libjwt": [libjwt] if libjwt else None, "PyJWT": [sys.executable, HERE / "rivals/pyjwt.py"]}
        for who, program in programs.items():
            for algorithm in ALGORITHMS:
                for operation in FLOORS if program else ():
                    run = subprocess.run(
                        ["taskset", "-c", core, *map(str, rival(program, directory, algorithm, operation, 0))],
                        capture_output=True, text=True)
                    if run.returncode == 0:
                        rates[who, algorithm, operation] = int(run.stdout)
        speed = openssl_speed()
        rows = []
        for algorithm in ALGORITHMS:
            for operation, floor in FLOORS.items():
                bare = rates["bare", algorithm, operation]
                ratio = rates["JOSE", algorithm, operation] / bare
                if ratio < floor:
                    failures.append(f"{algorithm} {operation}: {ratio:.3f} is below {floor}")
                others = [rates.get((who, algorithm, operation), "-") for who in ("JWTKit", "libjwt", "PyJWT")]
                rows.append([f"{algorithm} {operation}", round(speed[algorithm, operation]), bare,
                             rates["JOSE", algorithm, operation], f"{ratio:.3f}", f"{floor:.2f}", *others])
        table("Whole tokens per second (claims and rules included), one core",
              ["", "openssl speed", "bare primitive", "JOSE", "JOSE/bare", "floor", "JWTKit", "libjwt", "PyJWT"], rows)

        slowest = {}
        bad = {}
        rows = []
        for line in pinned(binary, "refusals").splitlines():
            _, kind, algorithm, nanoseconds = line.split()
            if kind == "bad-signature":
                bad[algorithm] = int(nanoseconds)
            else:
                slowest[algorithm] = max(slowest.get(algorithm, (0, "")), (int(nanoseconds), kind))
        for algorithm, (nanoseconds, kind) in slowest.items():
            ratio = bad[algorithm] / nanoseconds
            rows.append([algorithm, bad[algorithm], nanoseconds, kind, f"{ratio:.0f}x"])
            if ratio < 50:
                failures.append(f"{algorithm}: refuses {kind} only {ratio:.0f} times faster than a bad signature")
        table("Refusing, nanoseconds (floor: 50 times)",
              ["", "bad signature", "malformed, slowest", "which", "faster"], rows)

        counts = [line.split()[1:] for line in pinned(
            binary, "allocations", env={**os.environ, "LD_PRELOAD": str(counter)}).splitlines()]
        table("Allocations of one verification, claims whose values need no memory of their own",
              ["claims", *[count for count, _ in counts]], [["allocations", *[number for _, number in counts]]])
        if float(counts[-1][1]) - float(counts[0][1]) > 3:
            failures.append("the number of allocations grows with the number of claims")

        if os.environ.get("BENCH_INSTRUCTIONS") != "0" and shutil.which("valgrind"):
            rows = []
            for algorithm in ALGORITHMS:
                for operation in FLOORS:
                    row = [instructions(lambda n: [binary, "count", who, algorithm, operation, n,
                                                   directory / f"{algorithm}.private.pem"], 40, 120)
                           for who in ("bare", "JOSE", "JWTKit")]
                    if ("libjwt", algorithm, operation) in rates:
                        row.append(instructions(
                            lambda n: rival([libjwt], directory, algorithm, operation, n), 40, 120))
                    else:
                        row.append("-")
                    rows.append([f"{algorithm} {operation}", *row])
            table("Instructions per operation (callgrind, whose processor has fewer extensions than most)",
                  ["", "bare primitive", "JOSE", "JWTKit", "libjwt"], rows)
    for failure in failures:
        print(f"missed: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


main()
