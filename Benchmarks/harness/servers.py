"""The servers of a run: the upstream, Gatehouse and HAProxy, each on a port of its own."""

import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization

from .place import HERE, LOAD_CORE, SERVER_CORE, free_port, wait_for_port

# Removed, because the gateway warns of unknown variables in its environment.
BINARY = Path(os.environ.pop("GATEHOUSE_BINARY", HERE.parent / ".build/release/gatehouse")).resolve()
EMAIL, PASSWORD, TENANT = "bench@example.com", "correct horse battery", "bench"


def start_upstream(place):
    """The small C upstream, or nginx with BENCH_UPSTREAM=nginx."""
    port = free_port()
    if os.environ.get("BENCH_UPSTREAM") == "nginx":
        file = place.write("nginx.conf", f"""
daemon off; master_process off; worker_processes 1; pid {place.path}/nginx.pid; error_log {place.path}/nginx.log;
events {{ worker_connections 10000; }}
http {{
  access_log off; keepalive_requests 1000000000; client_body_temp_path {place.path}/body;
  proxy_temp_path {place.path}/p; fastcgi_temp_path {place.path}/f; uwsgi_temp_path {place.path}/u;
  scgi_temp_path {place.path}/s;
  server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 "{'x' * 128}"; }} }}
}}
""")
        process = place.start(["nginx", "-e", f"{place.path}/nginx.log", "-c", file], LOAD_CORE)
        wait_for_port(port)
    else:
        process, _ = place.start([place.path / "upstream", "--port", port], LOAD_CORE, ready="ready")
    process.port = port
    return process


class Gateway:
    """A gateway with one account that has logged in."""

    def __init__(self, place, upstream_port, settings="", name="gateway", routes="", favour=True, binary=BINARY):
        self.binary = binary
        if not binary.exists():
            raise SystemExit(f"{binary} is missing: run `make build`, or set GATEHOUSE_BINARY")
        self.place, self.directory = place, place.path / name
        # Where its metrics are, if the settings say so.
        self.admin = settings.partition("admin: ")[2].rstrip("}") or None
        self.directory.mkdir()
        config = place.write(f"{name}.yaml", f"""
{"" if "server:" in settings else "server: {threads: 1, idle_timeout: 10m}"}
limits: {{enabled: false}}
{"" if "log:" in settings else "log: {level: warning}"}
{settings}
routes:
  - {{path: /token, upstream: "http://127.0.0.1:{upstream_port}", require: token, strip_prefix: true}}
  - {{path: /owned, upstream: "http://127.0.0.1:{upstream_port}", require: token+session, strip_prefix: true}}
  - {{path: /socket, upstream: "http://127.0.0.1:{upstream_port}", require: token+session, websocket: true}}
{routes}
""")
        self.state = state = ["--state", f"sqlite:{self.directory}/state.sqlite", "--config", str(config)]
        subprocess.run(
            [binary, "users", "add", EMAIL, "--tenant", TENANT, "--password-stdin", *state], input=PASSWORD,
            text=True, check=True, capture_output=True)
        port = free_port()
        self.process, line = place.start(
            [
                binary, "serve", "--listen", f"127.0.0.1:{port}", *([] if self.admin else ["--admin", "off"]), "--keys",
                self.directory / "keys", *state,
            ], SERVER_CORE, ready="ready ", favour=favour)
        self.port, self.pid = port, self.process.pid
        self.key_file = next((self.directory / "keys").glob("*.pem"))
        self.login()

    def set_account(self, *words):
        """Changes the account, which the gateway obeys within a second, and logs in again."""
        subprocess.run([self.binary, "users", "set", EMAIL, *words, *self.state], check=True, capture_output=True)
        settle(1.5)
        self.login()

    def login(self):
        self.session = self.call("POST", "/api/auth/login", {"email": EMAIL, "password": PASSWORD})
        self.token = self.session["access_token"]
        self.token_file = self.place.write(f"token-{self.port}", self.token + "\n")
        self.owner = f"Session-Id: {self.session['session_id']}"

    def refresh(self):
        """Gets a new pair of the same family, which extends what was opened with the old token."""
        answer = self.call("POST", "/api/auth/refresh", {"refresh_token": self.session["refresh_token"]})
        self.session.update(answer)

    def logout(self):
        self.call("POST", "/api/auth/logout", {}, token=self.token)

    def call(self, method, path, body, token=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(), headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else {}

    def key(self):
        return serialization.load_pem_private_key(self.key_file.read_bytes(), None)

    def public_pem(self):
        text = self.key().public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        return self.place.write("gateway.pub.pem", text.decode())

    def many_tokens(self, count, same_user=False):
        """Tokens like those of the gateway, each for another user by default."""
        key, kid = self.key(), jwt.get_unverified_header(self.token)["kid"]
        claims = jwt.decode(self.token, options={"verify_signature": False})
        lines = []
        for _ in range(count):
            claims["jti"] = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
            if not same_user:
                claims["sub"] = "usr_" + base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
                claims["fid"] = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
            lines.append(jwt.encode(claims, key, "ES256", {"typ": "at+jwt", "kid": kid}))
        return self.place.write(f"tokens-{self.port}-{count}-{int(same_user)}", "\n".join(lines) + "\n")


class HAProxy:
    """One process, one thread: a plain proxy, a proxy that verifies ES256, and a decision endpoint that does."""

    def __init__(self, place, upstream_port, public_pem, connections=8000):
        self.plain, self.verified, self.decision = free_port(), free_port(), free_port()
        verified = f'var(txn.bearer),jwt_verify("ES256","{public_pem}") -m int 1'
        check = (
            "http-request set-var(txn.bearer) http_auth_bearer\n"
            f"  http-request deny deny_status 401 unless {{ {verified} }}")
        file = place.write("haproxy.cfg", f"""
global
  nbthread 1
  maxconn {connections}
defaults
  mode http
  timeout connect 5s
  timeout client 10m
  timeout server 10m
  timeout tunnel 10m
  timeout http-keep-alive 10m
  http-reuse always
frontend plain
  bind 127.0.0.1:{self.plain}
  default_backend upstream
frontend verified
  bind 127.0.0.1:{self.verified}
  {check}
  default_backend upstream
frontend decision
  bind 127.0.0.1:{self.decision}
  {check}
  http-request return status 200
backend upstream
  server only 127.0.0.1:{upstream_port}
""")
        self.process = place.start(["haproxy", "-db", "-f", file], SERVER_CORE)
        self.pid = self.process.pid
        for port in (self.plain, self.verified, self.decision):
            wait_for_port(port)


def settle(seconds=0.3):
    time.sleep(seconds)
