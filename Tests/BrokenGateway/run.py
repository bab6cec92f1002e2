"""Attacks the broken gateway once without a mistake and once with each: every mistake must be found by its cases, every
case must have found one, and none may fail where there is none. `run.py [BUG…]`; GATEHOUSE_BINARY names the binary."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

from bugs import BUGS, SETTINGS

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("GATEHOUSE_BINARY", str(HERE.parent.parent / ".build/debug/gatehouse"))
PROFILE = """token:
  carrier: header
  login: {{path: /api/auth/login, email: attack-one@example.com, password: attack-one-password}}
second_user:
  login: {{path: /api/auth/login, email: attack-two@example.com, password: attack-two-password}}
path: /api/auth/me
socket: {{path: /api/runtime/agent, carriers: [query, header, subprotocol, cookie], cookie: gate}}
promises: [sessions, refresh, revoke, ownership, assertion, protocol-sessions]
oauth: {{resource: /agents, scopes: [read, write]}}
canary: {{upstream_route: /canary, listen: "127.0.0.1:{port}"}}
"""


def reserved_port():
    """A socket with a port that no other process is given while it is open, and that can be listened on by its number."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


# Seconds for everything. It takes less than four minutes on two busy cores.
LIMIT = 900
BEGUN = time.monotonic()

# Cases about HTTP/2.
STREAMS = "H03-"


def attack(bugs, only):
    """The verdicts of the cases against a gateway with the mistakes: of those about HTTP/2 over HTTP/2, of all others
    over HTTP/1.1."""
    streams = [pattern for pattern in only if pattern.startswith(STREAMS)]
    others = [pattern for pattern in only if not pattern.startswith(STREAMS)]
    return (attack_over(bugs, others) if others else {}) | (attack_over(bugs, streams, ["--http2"]) if streams else {})


def attack_over(bugs, only, options=()):
    with reserved_port() as holder:
        port = holder.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, str(HERE / "gateway.py"), str(port), *bugs], stdout=subprocess.PIPE,
            text=True, cwd=HERE)
        key = None
        try:
            started = server.stdout.readline().split()
            if len(started) != 2:
                sys.exit(f"{' '.join(bugs)}: the broken gateway did not start")
            origin_port, key = started
            return attack_at(origin_port, key, port, bugs, only, options)
        finally:
            server.kill()
            server.wait()
            if key:
                pathlib.Path(key).unlink(missing_ok=True)


def attack_at(origin_port, key, port, bugs, only, options):
    with tempfile.TemporaryDirectory() as place:
        profile, report = pathlib.Path(place, "profile.yaml"), pathlib.Path(place, "report.json")
        profile.write_text(PROFILE.format(port=port))
        command = [BINARY, "attack", f"http://127.0.0.1:{origin_port}", "--profile", str(profile), "--key", key,
                   "--strict", "--rate", "10000", "--report", f"json={report}", *options]
        for pattern in only:
            command += ["--only", pattern]
        left = max(1, min(300, BEGUN + LIMIT - time.monotonic()))
        run = subprocess.run(command, capture_output=True, text=True, timeout=left)
        text = report.read_text() if report.exists() else ""
        cases = json.loads(text)["cases"] if text else []
        # The report is empty until the end: an attack that could not begin leaves it so, and says why.
        if not cases or run.returncode not in (0, 1, 2):
            sys.exit(f"{' '.join(bugs)}: no case was run: attack exited {run.returncode}: {run.stderr}")
        return {case["id"]: (case["verdict"], case["reason"]) for case in cases}


def judge(bug, expected):
    """What was found of one mistake, and what is amiss."""
    only = sorted(expected)
    verdicts = attack(bug.split(), only)
    failed = {identifier for identifier, (verdict, _) in verdicts.items() if verdict == "failed"}
    silent = [pattern for pattern in expected if not any(fnmatchcase(identifier, pattern) for identifier in failed)]
    return bug, failed, silent, verdicts


def setting(bug):
    """The words of a mistake that are none."""
    return tuple(word for word in bug.split() if word in SETTINGS)


def without_mistakes(chosen):
    """The settings, and the cases that are tried with each while there is no mistake: all, or those of the chosen."""
    if chosen is BUGS:
        return {(): ["*", STREAMS + "*"]} | {(name,): [pattern] for name, pattern in SETTINGS.items()}
    patterns = {}
    for bug, expected in chosen.items():
        patterns.setdefault(setting(bug), set()).update(expected)
    return {words: sorted(expected) for words, expected in patterns.items()}


def main():
    chosen = {bug: BUGS[bug] for bug in sys.argv[1:]} or BUGS
    caught, known, ever, amiss = 0, set(), set(), []
    for words, patterns in without_mistakes(chosen).items():
        verdicts = attack(words, patterns)
        known |= set(verdicts)
        amiss += [f"{' '.join(words) or 'without a mistake'}: {identifier}: {verdict}: {reason}"
                  for identifier, (verdict, reason) in verdicts.items() if verdict in ("failed", "inconclusive")]
    with ThreadPoolExecutor(2) as pool:
        for bug, failed, silent, verdicts in pool.map(lambda item: judge(*item), chosen.items()):
            ever |= failed
            caught += not silent
            print(f"{'caught' if not silent else 'MISSED':7} {bug:36} {len(failed):4} of {len(verdicts)} failed")
            for pattern in silent:
                seen = {identifier: verdict for identifier, verdict in verdicts.items() if fnmatchcase(identifier, pattern)}
                amiss.append(f"{bug}: {pattern} did not find it: {seen}")
    if chosen is BUGS:
        amiss += [f"{identifier} has never failed" for identifier in sorted(known - ever)]
        print(f"{len(ever)} of {len(known)} cases have failed against a mistake")
    print(f"mutation score: {caught} of {len(chosen)} mistakes caught, in {time.monotonic() - BEGUN:.0f} s")
    for line in amiss:
        print(line, file=sys.stderr)
    sys.exit(1 if amiss else 0)


if __name__ == "__main__":
    main()
