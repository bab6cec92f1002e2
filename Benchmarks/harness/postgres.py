"""A PostgreSQL server of a run's own, with the default setting of fsync, and a standby that can take its place."""

import glob
import os
import signal
import subprocess
import time
from pathlib import Path


class Postgres:
    """With `delay`, every commit takes that many microseconds more, as on the disk of a cloud or with a synchronous
    standby. With `beside`, the URL names a second place, that of a standby which may take over."""

    def __init__(self, place, delay=0, beside=False):
        self.place, self.delay = place, delay
        self.binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        # PostgreSQL refuses to run as root.
        self.drop = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        self.folder = self.new_folder()
        self.beside = self.new_folder() if beside else None
        self.process = None
        subprocess.run(
            [*self.drop, f"{self.binaries}/initdb", "-D", self.data, "-A", "trust", "-U", "gatehouse", "--no-locale",
             "-E", "UTF8"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        hosts = ",".join(str(folder) for folder in (self.folder, self.beside) if folder)
        self.url = f"postgresql://gatehouse@/postgres?host={hosts}"
        if beside:
            self.url += "&target_session_attrs=read-write"
        self.start()

    def new_folder(self):
        """A short path, because that of a Unix socket has at most 107 bytes."""
        made = subprocess.run(["mktemp", "-d", "/tmp/gh-bench-XXXX"], capture_output=True, text=True, check=True)
        folder = Path(made.stdout.strip())
        if self.drop:
            subprocess.run(["chown", "postgres", folder], check=True)
        return folder

    @property
    def data(self):
        return self.folder / "data"

    def start(self):
        """Returns when it takes connections."""
        log = open(self.place.path / "postgres.log", "ab")
        self.process = subprocess.Popen(
            [*self.place.as_others, *self.drop, f"{self.binaries}/postgres", "-D", self.data, "-k", self.folder, "-c",
             "listen_addresses=", "-c", "max_connections=200", "-c", f"commit_delay={self.delay}", "-c",
             "commit_siblings=0"], stdout=log, stderr=log, cwd="/")
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
        for folder in filter(None, (self.folder, self.beside)):
            subprocess.run(["rm", "-rf", folder], check=False)

    # MARK: A standby

    def ask(self, sql):
        """The first column of what the server answers."""
        done = subprocess.run(
            [f"{self.binaries}/psql", "-XAtq", "-h", self.folder, "-U", "gatehouse", "-d", "postgres", "-c", sql],
            capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def follow(self):
        """Starts a standby and returns it when every commit waits for it."""
        standby = object.__new__(Postgres)
        standby.__dict__.update(self.__dict__, folder=self.beside, beside=None, process=None)
        subprocess.run(
            [*self.drop, f"{self.binaries}/pg_basebackup", "-h", self.folder, "-U", "gatehouse", "-D", standby.data,
             "-R", "-X", "stream", "-c", "fast"], check=True, capture_output=True, cwd="/")
        standby.start()
        # Said after the copy, so that the standby, once it has taken over, does not wait for another standby.
        self.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.ask("SELECT pg_reload_conf()")
        for _ in range(300):
            if "sync" in self.ask("SELECT sync_state FROM pg_stat_replication").split():
                return standby
            time.sleep(0.1)
        raise SystemExit("the standby does not follow")

    def promote(self):
        """Makes a standby take writes."""
        self.ask("SELECT pg_promote(true, 30)")
