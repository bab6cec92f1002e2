"""Attacks other gateways and services with `gatehouse attack` and prints what they let through, as Markdown.

`run.py [PEER…]`; it runs in a virtual environment with the packages in requirements.txt, GATEHOUSE_BINARY names the binary.
"""

import base64
import collections
import importlib.metadata
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("GATEHOUSE_BINARY", str(HERE.parent.parent / ".build/debug/gatehouse"))


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Issuer:
    """An RSA key, its JWKS, and valid tokens."""

    def __init__(self, place):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.private, self.public, self.jwks = place / "private.pem", place / "public.pem", place / "jwks.json"
        self.private.write_bytes(self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.public.write_bytes(self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
        numbers = self.key.public_key().public_numbers()
        jwk = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "peers",
               "n": b64(numbers.n.to_bytes(256, "big")), "e": "AQAB"}
        self.jwks.write_text(json.dumps({"keys": [jwk]}))

    def token(self, kind):
        now = int(time.time())
        header = {"alg": "RS256", "typ": kind, "kid": "peers"}
        claims = {"iss": "https://issuer.example", "aud": "peers", "sub": "user-1", "iat": now - 5, "exp": now + 900,
                  "nbf": now - 5, "jti": secrets.token_hex(8), "client_id": "client-1"}
        start = ".".join(b64(json.dumps(part).encode()) for part in (header, claims))
        return start + "." + b64(self.key.sign(start.encode(), padding.PKCS1v15(), hashes.SHA256()))


class Peers:
    """One peer: as its documentation shows, or with every check that it has an option for."""

    def __init__(self, place, is_strict):
        self.place, self.issuer, self.processes = place, Issuer(place), []
        self.configuration = "strict" if is_strict else "documented"
        self.kind = "JWT"
        (place / "protected.txt").write_text("what is protected\n")

    def start(self, command, port):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return port
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"{command[0]} did not start")

    def stop(self):
        for process in self.processes:
            process.terminate()
            process.wait()
        self.processes = []

    def written(self, name, **values):
        text = (HERE / name).read_text()
        for key, value in values.items():
            text = text.replace(f"@{key.upper()}@", str(value))
        path = self.place / name
        path.write_text(text)
        return str(path)

    def service(self, library):
        port = free_port()
        return self.start([sys.executable, str(HERE / "service.py"), library, str(port), str(self.issuer.public),
                           self.configuration], port)

    def resource_server(self):
        # It takes access tokens of RFC 9068 only.
        self.kind = "at+jwt"
        port = free_port()
        return self.start(
            [sys.executable, str(HERE / "resource_server.py"), str(port), str(self.issuer.jwks)], port)

    def haproxy(self):
        port = free_port()
        further = (HERE / "haproxy-strict.cfg").read_text() if self.configuration == "strict" else ""
        path = self.written("haproxy.cfg", port=port, key=self.issuer.public, strict=further)
        return self.start(["haproxy", "-db", "-f", path], port)

    def nginx(self):
        port = free_port()
        service = self.service("pyjwt")
        path = self.written("nginx.conf", port=port, service=service, place=self.place)
        return self.start(["nginx", "-p", str(self.place), "-c", path], port)

    def caddy(self):
        port = free_port()
        service = self.service("pyjwt")
        path = self.written("Caddyfile", port=port, service=service)
        return self.start(["caddy", "run", "--adapter", "caddyfile", "--config", path], port)

    def attack(self, port):
        report = self.place / "report.json"
        report.unlink(missing_ok=True)
        token = self.place / "token"
        token.write_text(self.issuer.token(self.kind))
        token.chmod(0o600)
        profile = self.place / "profile.yaml"
        example = HERE.parent.parent / "Examples/attack/nginx-jwt.yaml"
        profile.write_text(example.read_text().replace("cat token", f"cat '{token}'"))
        keys = subprocess.Popen(
            [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(self.place),
             str(keys_port := free_port())], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{keys_port}/jwks.json").read()
                    break
                except OSError:
                    time.sleep(0.05)
            run = subprocess.run(
                [BINARY, "attack", f"http://127.0.0.1:{port}", "--profile", str(profile), "--key",
                 str(self.issuer.private), "--jwks", f"http://127.0.0.1:{keys_port}/jwks.json", "--rate", "2000",
                 "--report", f"json={report}"], capture_output=True, text=True, timeout=600)
        finally:
            keys.terminate()
            keys.wait()
        if not report.exists() or not report.stat().st_size:
            raise RuntimeError(run.stderr)
        return json.loads(report.read_text())["cases"]


def version(program, *arguments):
    run = subprocess.run([program, *arguments], capture_output=True, text=True)
    return (run.stdout + run.stderr).splitlines()[0].removeprefix("nginx version: ").split(" - ")[0]


def package(name):
    return f"{name} {importlib.metadata.version(name)}"


PEERS = {
    "HAProxy `jwt_verify`": (Peers.haproxy, lambda: version("haproxy", "-v"), "haproxy"),
    "nginx, PyJWT behind `auth_request`": (
        Peers.nginx, lambda: f'{version("nginx", "-v")}, {package("PyJWT")}', "nginx"),
    "Caddy, PyJWT behind `forward_auth`": (
        Peers.caddy, lambda: f'Caddy {version("caddy", "version")}, {package("PyJWT")}', "caddy"),
    "FastAPI with PyJWT": (lambda peers: peers.service("pyjwt"), lambda: package("PyJWT"), None),
    "FastAPI with python-jose": (lambda peers: peers.service("python-jose"), lambda: package("python-jose"), None),
    "FastAPI with joserfc": (lambda peers: peers.service("joserfc"), lambda: package("joserfc"), None),
    "FastAPI with Authlib": (lambda peers: peers.service("authlib"), lambda: package("Authlib"), None),
    "Authlib resource server": (
        Peers.resource_server, lambda: f'{package("Authlib")}, {package("Flask")}', None),
}


# The groups of cases whose tokens no trusted issuer signed: a failure is a way in.
UNSIGNED = {
    "none", "signature", "confusion", "algorithm", "embedded-key", "remote-key", "ecdsa", "eddsa", "rsa", "swapped"}

HEAD = """# What others let through

Written by `make attack-peers` on {date} with {machine}.
The configurations are in `Tests/Peers`.

Each target was attacked with a valid token of its own and its issuer's key, without `--strict`: cases that standards
leave open are not judged, and any answer but success is a refusal.

A failure does not by itself let an attacker in. Only the first column of failures counts tokens that no trusted issuer
signed. Making the others takes the issuer's key or a valid token: they are texts that another parser may read
differently, or that a standard calls invalid, and claims that were not checked.

Each target was attacked twice: configured as its documentation shows, with `iss`, `aud`, `exp` and `sub` checked and one
key; and with every further check that it has an option for. What fails both times is counted as the software's, since no
option of it changes that; a few lines of one's own might. What fails only the first time is the configuration's. HAProxy's
`jwt_verify` verifies signatures and leaves claims to the configuration, so that its second one is `haproxy-strict.cfg`.
Authlib's resource server, its validator of RFC 9068 with issuer, audience and key, has no further options.

To repeat this, run `make attack-peers`, or `Tests/Peers/run.py NAME` for one of them.

"""

# Not found here, and said here so that everything is in one place.
FOOT = """
## JWTKit

A Swift library, so it is not attacked over HTTP, but by the test in `Examples/JWTKitTest`: JWTKit 5.7.1 with ES256, and
`iss`, `aud`, `exp` and `nbf` checked as its documentation shows. It accepts no token that the key has not signed. What it
judges otherwise than these cases, and why, is listed there in `Differences.txt`.

`J23-aud-empty-array` is left out of the test, because it ends the process: in this version `AudienceClaim` has a
precondition that `aud` is not empty, and decoding `[]` fails it. `verify` decodes claims after it has checked the
signature, so it takes an issuer that signs such a token. `unverified`, by its source, decodes tokens that no key has
checked. Payloads that do not use `AudienceClaim` are not affected.
"""


def ours(place):
    """The same cases against a gateway of our own."""
    report = pathlib.Path(place, "ours.json")
    subprocess.run(
        [str(HERE.parent.parent / ".ci/attack"), "--only", "J*", "--only", "P*", "--only", "S03-swapped-*",
         "--report", f"json={report}"], env=os.environ | {"GATEHOUSE_BINARY": BINARY}, capture_output=True, timeout=300)
    return json.loads(report.read_text())["cases"]


class Findings:
    """What was found of one target, each case on its own: whose it is."""

    def __init__(self, cases, strict_cases):
        self.cases = cases
        mended = {case["id"] for case in strict_cases if case["verdict"] == "passed"}
        if not mended:
            raise RuntimeError("nothing was judged")
        failed = [case for case in cases if case["verdict"] == "failed"]
        self.unsigned = [case for case in failed if case["group"] in UNSIGNED]
        signed = [case for case in failed if case["group"] not in UNSIGNED]
        self.software = [case for case in signed if case["id"] not in mended]
        self.configuration = [case for case in signed if case["id"] in mended]
        self.inconclusive = [case for case in cases if case["verdict"] == "inconclusive"]

    def row(self, name, described):
        passed = sum(case["verdict"] == "passed" for case in self.cases)
        counts = [passed] + [len(cases) for _, cases in self.columns()]
        return f"| {name} | {described} | {' | '.join(map(str, counts))} |"

    TITLES = [
        "a token that no trusted issuer signed", "the software's", "the configuration's", "inconclusive"]

    def columns(self):
        return zip(self.TITLES, [self.unsigned, self.software, self.configuration, self.inconclusive])

    def detail(self, name):
        lines = []
        for title, cases in self.columns():
            groups = collections.defaultdict(list)
            for case in cases:
                groups[case["group"]].append(case["id"])
            for group, found in groups.items():
                names = ", ".join(f"`{identifier}`" for identifier in found)
                lines += textwrap.wrap(
                    f"- {title}, {group} ({len(found)}): {names}", 120, subsequent_indent="  ",
                    break_on_hyphens=False)
        return [f"\n## {name}\n"] + (lines or ["No case failed or was inconclusive."])


def found(start, is_strict):
    with tempfile.TemporaryDirectory() as place:
        # nginx reads what it serves as another user.
        pathlib.Path(place).chmod(0o755)
        peers = Peers(pathlib.Path(place), is_strict)
        try:
            return peers.attack(start(peers))
        finally:
            peers.stop()


def main():
    rows, details = [], []
    for name, (start, described, program) in PEERS.items():
        if sys.argv[1:] and not any(word in name.lower() for word in sys.argv[1:]):
            continue
        if program and not shutil.which(program):
            print(f"{name}: {program} is not installed: skipped", file=sys.stderr)
            continue
        findings = Findings(found(start, False), found(start, True))
        rows.append(findings.row(name, described()))
        details += findings.detail(name)
        print(rows[-1], file=sys.stderr)
    if not sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            cases = ours(place)
        findings = Findings(cases, cases)
        rows.append(findings.row("Gatehouse, with `--strict`", version(BINARY, "--version")))
        details += findings.detail("Gatehouse")
    machine = f"Python {sys.version.split()[0]}, {version('uname', '-sr')}"
    print(HEAD.format(date=time.strftime("%Y-%m-%d"), machine=machine), end="")
    titles = ["target", "versions", "passed", *Findings.TITLES]
    print(f"| {' | '.join(titles)} |")
    print("|" + "---|" * len(titles))
    print("\n".join(rows + details))
    print(FOOT, end="")


if __name__ == "__main__":
    main()
