"""A PostgreSQL server of a run's own, with the default setting of fsync."""

import glob
import os
import signal
import subprocess
import time
from pathlib import Path


class Postgres:
    """With `delay`, every commit takes that many microseconds more, as on the disk of a cloud or with a synchronous
    standby."""

    def __init__(self, place, delay=0):
        self.place, self.delay = place, delay
        # A short path, because that of a Unix socket has at most 107 bytes. PostgreSQL refuses to run as root.
        made = subprocess.run(["mktemp", "-d", "/tmp/gh-bench-XXXX"], capture_output=True, text=True, check=True)
        self.folder = Path(made.stdout.strip())
        self.binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.drop = []
        if os.geteuid() == 0:
            self.drop = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            subprocess.run(["chown", "postgres", self.folder], check=True)
        self.data = self.folder / "data"
        subprocess.run(
            [*self.drop, f"{self.binaries}/initdb", "-D", self.data, "-A", "trust", "-U", "gatehouse", "--no-locale",
             "-E", "UTF8"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.url = f"postgresql://gatehouse@/postgres?host={self.folder}"
        self.start()

    def start(self):
        """Returns when it takes connections."""
        log = open(self.place.path / "postgres.log", "ab")
        self.process = subprocess.Popen(
            [*self.drop, f"{self.binaries}/postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
             "-c", "max_connections=200", "-c", f"commit_delay={self.delay}", "-c", "commit_siblings=0"],
            stdout=log, stderr=log, cwd="/")
        for _ in range(300):
            asked = subprocess.run(
                [f"{self.binaries}/pg_isready", "-q", "-h", self.folder], stdout=subprocess.DEVNULL)
            if asked.returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit("PostgreSQL did not start")

    def stop(self, how=signal.SIGINT):
        """SIGINT ends its connections and stops it in order; SIGQUIT stops it at once, as a crash would."""
        self.process.send_signal(how)
        self.process.wait(30)

    def end(self):
        if self.process.poll() is None:
            self.stop()
        subprocess.run(["rm", "-rf", self.folder], check=False)
