"""The processes of the soak: gateways on one PostgreSQL, an upstream, and people whose tokens another issuer signs."""

import datetime
import ipaddress
import json
import math
import mmap
import os
import random
import resource
import signal
import ssl
import struct
import subprocess
import time
import urllib.request

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harness.place import HERE, free_port
from harness.servers import BINARY, EMAIL, PASSWORD, TENANT

# Seconds.
GRACE, TOKEN_LIFETIME, SKEW, PING = 12, 60, 30, 5
ASSERTION_LIFETIME = 300
ISSUER = "https://people.soak.test"


class Clock:
    """The time of day as one node sees it. Offsets are in seconds, moments those of the monotonic clock."""

    def __init__(self, file=None):
        self.file, self.memory = file, None
        # From when at the earliest, and since when at the latest, it has been off by how much.
        self.steps = [(-math.inf, -math.inf, 0)]
        if file:
            file.write_bytes(bytes(8))
            with open(file, "r+b") as opened:
                self.memory = mmap.mmap(opened.fileno(), 8)

    def set(self, offset):
        before = time.monotonic()
        self.memory[:] = struct.pack("=q", offset)
        self.steps.append((before, time.monotonic(), offset))

    @property
    def offset(self):
        return self.steps[-1][2]

    def offsets(self, began, ended):
        """By how much it may have been off between two moments."""
        ends = [after for _, after, _ in self.steps[1:]] + [math.inf]
        return {offset for (before, _, offset), end in zip(self.steps, ends) if before <= ended and began <= end}

    @staticmethod
    def library(place):
        """What is preloaded into a node, so that its clock can be set."""
        made = place.path / "step-clock.so"
        if not made.exists():
            source = HERE / "load" / "step-clock.c"
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
        return made


class Gateway:
    """One node. It may be killed and started again on the same port."""

    def __init__(self, place, name, state, keys, people, upstream, settings=""):
        self.place, self.name, self.keys, self.state = place, name, keys, state
        self.port = free_port()
        self.clock = Clock(place.path / f"{name}.clock")
        # The operator's listener: a Unix socket needs no token from the gateway's own user.
        self.admin = place.path / f"{name}.admin"
        self.route = f'upstream: "http://127.0.0.1:{upstream}", strip_prefix: true'
        route = self.route
        self.config = place.path / f"{name}.yaml"
        self.text = f"""
server: {{threads: 1, idle_timeout: 10m, header_timeout: 10s, admin: "unix:{self.admin}"{settings}}}
limits: {{enabled: false}}
log: {{level: error}}
state: {{grace: {GRACE}s}}
tokens: {{issuer: "http://soak.test", access_token_lifetime: {TOKEN_LIFETIME}s, clock_skew: {SKEW}s}}
sessions: {{anonymous_idle: 6h}}
websocket: {{ping: {PING}s}}
issuers:
  - {{issuer: "{ISSUER}", jwks: {people.file}, audience: gatehouse, tenants: [{TENANT}]}}
routes:
  - {{path: /token, {route}, require: token}}
  - {{path: /owned, {route}, require: token+session}}
  - {{path: /socket, {route}, require: token+session, websocket: true}}
"""
        self.write_config()
        self.process = None

    def write_config(self, has_more=False):
        """With one route more, if wanted. The file is replaced at once, so that every reader finds a whole one."""
        more = f"  - {{path: /reloaded, {self.route}, require: none}}\n" if has_more else ""
        os.replace(self.place.write(f"{self.name}.yaml.next", self.text + more), self.config)

    def options(self):
        return ["--state", self.state, "--config", str(self.config)]

    def start(self):
        log = open(self.place.path / f"{self.name}.log", "ab")
        command = [BINARY, "serve", "--listen", f"127.0.0.1:{self.port}", "--keys", self.keys]
        # Preloaded from the start, since a process can't be given another clock later.
        faked = {"LD_PRELOAD": str(Clock.library(self.place)), "STEP_CLOCK": str(self.clock.file)}
        self.process = subprocess.Popen(
            list(map(str, [*self.place.as_others, *command, *self.options()])), stdout=subprocess.PIPE, stderr=log,
            text=True, env=os.environ | faked)
        self.place.running.append(self.process)
        if not self.process.stdout.readline().startswith("ready "):
            raise SystemExit(f"{self.name} did not start: {(self.place.path / f'{self.name}.log').read_text()[-2000:]}")
        return self

    @property
    def pid(self):
        return self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.place.running.remove(self.process)

    def stop_for(self, pause):
        """Stops the process for a while, as a machine that is cut off."""
        os.kill(self.pid, signal.SIGSTOP)
        time.sleep(pause)
        os.kill(self.pid, signal.SIGCONT)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def lowest_free(self):
        """The number that the next descriptor will have."""
        taken = {int(name) for name in os.listdir(f"/proc/{self.pid}/fd")}
        return next(number for number in range(len(taken) + 1) if number not in taken)

    def limit_files(self, count):
        """Sets how many descriptors the process may have; returns what it was."""
        before = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (count, before[1]))
        return before[0]

    # MARK: Commands, and the account that holds sockets

    def command(self, *words, **more):
        """Runs a command of the same program on the same store."""
        return subprocess.run(
            [BINARY, *words, *self.options()], text=True, capture_output=True, timeout=60, **more)

    def account(self):
        self.command("users", "add", EMAIL, "--tenant", TENANT, "--password-stdin", input=PASSWORD, check=True)
        return self

    def oauth_client(self, name):
        """Adds a client with a secret; returns what it authenticates itself with in a form."""
        made = json.loads(self.command("clients", "add", name, "--tenant", TENANT, "--json", check=True).stdout)
        return {"client_id": made["client_id"], "client_secret": made["client_secret"]}

    def call(self, path, body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())

    def login(self):
        return self.call("/api/auth/login", {"email": EMAIL, "password": PASSWORD})


class People:
    """Users of another issuer that the gateways trust."""

    def __init__(self, place, count):
        self.count = count
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        self.file = place.write("people.json", json.dumps({"keys": [{**numbers, "kid": "people", "alg": "ES256"}]}))
        self.users = {}

    def any(self):
        return random.randrange(self.count)

    def token(self, person, offset=0):
        """Signed by an issuer whose clock is off by so many seconds."""
        now = int(time.time()) + offset
        claims = {
            "iss": ISSUER, "sub": f"person-{person}", "aud": "gatehouse", "iat": now, "exp": now + ASSERTION_LIFETIME}
        return jwt.encode(claims, self.key, "ES256", {"kid": "people"})

    def known(self, person, user):
        """The user that the person had the first time."""
        return self.users.setdefault(person, user)


def certificate(place):
    """Certificate and key for 127.0.0.1, and what a client trusts it by."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "soak.test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256()))
    pem = place.write("tls.pem", made.public_bytes(serialization.Encoding.PEM).decode())
    private = place.write("tls.key", key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode())
    private.chmod(0o600)

    def client(*protocols):
        context = ssl.create_default_context(cafile=str(pem))
        context.set_alpn_protocols(protocols)
        return context

    return f", tls: {{certificate: {pem}, key: {private}}}", client
