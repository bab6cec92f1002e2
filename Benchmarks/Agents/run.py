#!/usr/bin/env python3
"""`make bench-agents`: what agents cost. Event streams that a revocation cuts, and a resource's requests beside plain ones.

See ../README.md. BENCH_STREAMS (5000) sets how many streams are open."""

import base64
import hashlib
import html
import json
import multiprocessing
import os
import re
import secrets
import select
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.measure import SECONDS, Subject, Table, interleave, ratio
from harness.place import Place
from harness.servers import Gateway, settle, start_upstream

STREAMS = int(os.environ.get("BENCH_STREAMS", "5000"))
REDIRECT = "http://127.0.0.1/cb"
EVENT = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n"


class StreamServer:
    """An upstream that answers every request with an event stream that never ends.

    A process of its own, which gives way to what measures: it would be another machine."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.listener.getsockname()[1]
        multiprocessing.get_context("fork").Process(target=self.serve, daemon=True).start()

    def serve(self):
        os.nice(10)
        poller, open_sockets = select.epoll(), {}
        self.listener.setblocking(False)
        poller.register(self.listener, select.EPOLLIN)
        while True:
            for number, _ in poller.poll():
                if number == self.listener.fileno():
                    one, _ = self.listener.accept()
                    open_sockets[one.fileno()] = one
                    poller.register(one, select.EPOLLIN)
                    continue
                one = open_sockets[number]
                try:
                    data = one.recv(65536)
                except OSError:
                    data = b""
                if data:
                    one.sendall(EVENT)
                else:
                    poller.unregister(one)
                    one.close()
                    del open_sockets[number]


class Streams:
    """Open event streams of one token."""

    def __init__(self, port, token, count):
        self.poller, self.sockets = select.epoll(), {}
        request = f"GET /mcp/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(request)
            head = b""
            while b"data: 1" not in head:
                part = one.recv(65536)
                if not part:
                    raise SystemExit(f"a stream was not opened: {head!r}")
                head += part
            one.setblocking(False)
            self.poller.register(one, select.EPOLLIN | select.EPOLLET)
            self.sockets[one.fileno()] = one

    def ends(self, began, seconds=10):
        """When each of them ended, in milliseconds after `began`. They are closed when all have been measured."""
        times = {}
        while len(times) < len(self.sockets) and time.monotonic() < began + seconds:
            for number, _ in self.poller.poll(0.1):
                if self.has_ended(self.sockets[number]):
                    times.setdefault(number, (time.monotonic() - began) * 1000)
        if len(times) < len(self.sockets):
            raise SystemExit(f"{len(self.sockets) - len(times)} streams are still open")
        for one in self.sockets.values():
            one.close()
        return sorted(times.values())

    @staticmethod
    def has_ended(one):
        """Reads all that there is."""
        try:
            while one.recv(65536):
                pass
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Agent:
    """A client that registers itself and is authorised by the account of the gateway."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.origin = f"http://127.0.0.1:{gateway.port}"
        client = gateway.call(
            "POST", "/oauth2/register", {"client_name": "bench", "redirect_uris": [REDIRECT]})["client_id"]
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "resource": self.origin + "/mcp",
            "state": "s", "code_challenge": challenge, "code_challenge_method": "S256"})
        page = self.ask("/oauth2/authorize?" + query)
        field = re.search(r'name="request" value="([^"]+)"', page.read().decode()).group(1)
        decided = self.ask("/oauth2/authorize", {"request": html.unescape(field), "decision": "allow"})
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(decided.headers["Location"]).query)["code"][0]
        tokens = self.ask("/oauth2/token", {
            "grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": REDIRECT,
            "code_verifier": verifier})
        self.token = json.load(tokens)["access_token"]
        self.token_file = gateway.place.write(f"agent-{gateway.port}", self.token + "\n")

    def ask(self, path, form=None):
        fields = {"Cookie": "gatehouse=" + self.gateway.session["session_secret"], "Origin": self.origin}
        data = urllib.parse.urlencode(form).encode() if form else None
        request = urllib.request.Request(self.origin + path, data, fields)
        try:
            return urllib.request.build_opener(NoRedirect).open(request, timeout=10)
        except urllib.error.HTTPError as answer:
            if answer.code == 303:
                return answer
            raise SystemExit(f"{path}: {answer.code} {answer.read(500).decode()}") from answer

    def end_grant(self):
        fields = {"Authorization": "Bearer " + self.gateway.session["access_token"]}
        place = self.origin + "/api/auth/grants"
        grants = json.load(urllib.request.urlopen(urllib.request.Request(place, headers=fields), timeout=10))["grants"]
        request = urllib.request.Request(f"{place}/{grants[0]['id']}", headers=fields, method="DELETE")
        urllib.request.urlopen(request, timeout=10).close()


class Agents:
    def __init__(self, place):
        self.place = place
        self.table = Table("Agents")
        self.upstream = start_upstream(place)
        self.count = 0

    def fresh_gateway(self, upstream_port):
        self.count += 1
        route = (
            f'  - {{path: /mcp, upstream: "http://127.0.0.1:{upstream_port}", strip_prefix: true, scopes: [tools],\n'
            "     resource: {name: Bench, scopes: [tools]}}")
        return Gateway(
            self.place, upstream_port, "clients: {registration: true}", f"gateway-{self.count}", routes=route)

    def streams(self):
        gateway = self.fresh_gateway(StreamServer().port)
        agent = Agent(gateway)
        open_streams = Streams(gateway.port, agent.token, STREAMS)
        settle(1)
        began = time.monotonic()
        threading.Thread(target=agent.end_grant).start()
        times = open_streams.ends(began)
        p99 = times[max(0, len(times) * 99 // 100 - 1)]
        self.table.at_most(
            f"end of a grant to the end of {STREAMS:,} event streams, p99", p99, 100, 50, " ms",
            f"p50 {times[len(times) // 2]:.0f} ms, last {times[-1]:.0f} ms")
        self.place.end(gateway.process)

    def requests(self):
        gateway = self.fresh_gateway(self.upstream.port)
        agent = Agent(gateway)

        def subject(name, path, tokens):
            def run():
                return self.place.load(
                    "http-load", "--port", gateway.port, "--path", path, "--tokens", tokens, "--seconds", SECONDS)
            return Subject(name, gateway.pid, run)

        plain = subject("a route with require: token", "/token/x", gateway.token_file)
        resource = subject("a resource", "/mcp/x", agent.token_file)
        interleave(plain, resource)
        self.table.at_least("requests/s of a resource / of a plain route", ratio(resource, plain), 0.97, 1, "same account")
        self.place.end(gateway.process)


def main():
    names = sys.argv[1:] or ["streams", "requests"]
    with Place() as place:
        agents = Agents(place)
        for name in names:
            getattr(agents, name)()
        agents.table.print()


main()
