"""A directory of one run, the programs compiled into it, and the processes that belong to it."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SERVER_CORE, LOAD_CORE = "0", "1"


def pinned(core, command, favour=True):
    """Pins to one core and, as root and where it is favoured, gives real-time priority."""
    may = favour and os.geteuid() == 0 and os.environ.get("BENCH_FAVOUR") != "no"
    return [*(["chrt", "--rr", "1"] if may else []), "taskset", "-c", core, *map(str, command)]


class Place:
    """Ends the processes that it started, by process id, and removes its directory."""

    def __init__(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.files = hard
        self.path = Path(tempfile.mkdtemp(prefix="gatehouse-bench-"))
        # Put before commands, where this program itself gives way to what it measures.
        self.as_others = []
        self.running = []

    def __enter__(self):
        if os.getloadavg()[0] > 0.7:
            print(f"  The machine is busy (load {os.getloadavg()[0]:.1f}): latencies will be too high, rates too low.")
        for source in ("http-load", "ws-load", "upstream"):
            command = ["cc", "-O2", "-o", str(self.path / source), str(HERE / "load" / f"{source}.c"), "-lcrypto"]
            subprocess.run(command, check=True)
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            self.end(process)
        if not os.environ.get("BENCH_KEEP"):
            shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, text):
        file = self.path / name
        file.write_text(text)
        return file

    def start(self, command, core, ready=None, favour=True, **options):
        """Starts a program on a core. With `ready`, waits for a line with this prefix and returns it too."""
        log = open(self.path / f"{Path(command[0]).name}.log", "ab")
        process = subprocess.Popen(
            [*self.as_others, *pinned(core, command, favour)], stdout=subprocess.PIPE if ready is not None else log,
            stderr=log, text=True, **options)
        self.running.append(process)
        if ready is None:
            return process
        line = process.stdout.readline()
        if not line.startswith(ready):
            raise SystemExit(f"{command[0]} did not start: {line}{(self.path / log.name).read_text()}")
        return process, line.strip()

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self.running:
            self.running.remove(process)

    def load(self, program, *arguments):
        """Runs a generator to its end and returns what it counted."""
        done = subprocess.run(
            [*self.as_others, *pinned(LOAD_CORE, [self.path / program, *arguments])], stdout=subprocess.PIPE, text=True,
            timeout=120, check=True)
        return json.loads(done.stdout)

    def give_way(self):
        """Lets everything that is started from now on go first, as if the clients were on machines of their own."""
        if os.geteuid() == 0:
            os.nice(10)
            self.as_others = ["nice", "-n", "-10"]

    def hold(self, program, *arguments):
        return Held(self, program, arguments)


class Held:
    """A generator that keeps its connections open until it is told to end."""

    def __init__(self, place, program, arguments):
        self.place = place
        self.process, line = place.start(
            [place.path / program, *arguments], LOAD_CORE, ready="{", stdin=subprocess.PIPE)
        self.opened = json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.place.end(self.process)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, seconds=5):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


# MARK: What a process uses


def cpu_seconds(pid):
    """User and system time of a process so far, of all its threads. By the clock that the kernel keeps for a process, as
    clock_getcpuclockid(3) names it: /proc/PID/stat counts in hundredths of a second, which is a percent of a slice."""
    return time.clock_gettime_ns(~pid << 3 | 2) / 1e9


def resident_bytes(pid):
    """Private and shared pages in memory (`Rss` of smaps_rollup, exact where `VmRSS` is not)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("no Rss")


def forget_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("no VmHWM")
