"""An admin listener made of answers: the console's files, and an admin API with as many sessions as are wanted.

    python3 Tests/BrowserTests/admin_fake.py PORT [SESSIONS]

Its token is `operators`; `reader` is a good token without the scope.
"""

import http.server
import json
import sys
import threading
import time
import urllib.parse

from assets import ADMIN, POLICY


#: What it takes.
TOKEN = "operators"


def date(offset):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))


class Gateway:
    """What the API tells of, and what was done to it."""

    def __init__(self, sessions):
        self.lock = threading.Lock()
        self.started = time.time()
        self.sessions = {}
        for i in range(sessions):
            owned = i % 3 != 0
            self.sessions[f"ses_{i:022d}"] = {
                "id": f"ses_{i:022d}", "state": "authenticated" if owned else "anonymous",
                **({"user_id": f"usr_{i:022d}", "tenant_id": f"tenant-{i % 7}", "email": f"person{i}@example.com"} if owned else {}),
                "created_at": date(-i), "last_used_at": date(-i / 2), "expires_at": date(1800 + i), "sockets": i % 4}
        self.connections = {
            f"con_{i}": {
                "id": f"con_{i}", "kind": ["socket", "relay", "stream"][i % 3],
                "route": ["/api/runtime/agent", "/orders", "/mcp"][i % 3], "session": f"ses_{i:08d}", "user_id": f"usr_{i:022d}",
                "tenant_id": "acme", "client": f"192.0.2.{i + 1}", "since": date(-60 * i - 5),
                **({"ends_at": date(900 - i)} if i % 2 else {})}
            for i in range(40)}
        self.level = {"level": "info"}
        self.reloads = {}
        self.requests = 0
        self.done = []

    def lists(self):
        codes = [("session_mismatch", "session_foreign", 403), ("invalid_token", "signature_invalid", 401),
                 ("origin_refused", "origin_unknown", 403), ("rate_limited", "address", 429)]
        refusals = [{
            "time": date(-7 * i), "request_id": f"req-{i:06d}", "client": f"198.51.100.{i % 250}", "method": "GET",
            "path": "/orders/7?access_token=eyJhbGci…", "route": "/orders", "status": codes[i % 4][2], "code": codes[i % 4][0],
            "reason": codes[i % 4][1], "user": f"usr_{i:022d}"} for i in range(300)]
        # A head that could not be read has neither.
        del refusals[1]["method"], refusals[1]["path"]
        return {
            "sessions": list(self.sessions.values()), "connections": list(self.connections.values()), "refusals": refusals,
            "grants": [{
                "id": "gra_1", "user_id": "usr_0", "client_id": "https://assistant.example/client.json",
                "client_name": "An assistant", "resource": "https://gate.example/mcp", "scopes": ["read", "write"],
                "created_at": date(-86_400), "last_used_at": date(-30)}],
            "keys": [
                {"kid": "k-2026-11", "algorithm": "ES256", "state": "active", "created_at": date(-864_000)},
                {"kid": "k-2026-12", "algorithm": "ES256", "state": "next", "created_at": date(-3_600)},
                {"kid": "k-2026-10", "algorithm": "ES256", "state": "retiring", "created_at": date(-3e6), "retires_at": date(600)},
                {"kid": "k-2026-09", "algorithm": "ES256", "state": "retired", "created_at": date(-6e6), "retires_at": date(-900)}],
            "upstreams": [
                {"route": "/orders", "upstream": "127.0.0.1:8000", "up": True, "requests_in_flight": 3, "consecutive_failures": 0},
                {"route": "/mcp", "upstream": "127.0.0.1:8001", "up": False, "ejected_until": date(4), "requests_in_flight": 0,
                 "consecutive_failures": 6}],
        }

    def overview(self):
        return {
            "version": "0.1.0", "node": "gate-1", "started_at": date(self.started - time.time() - 93_784),
            "uptime_seconds": int(time.time() - self.started) + 93_784, "ready": True,
            "store": {"kind": "postgres", "reachable": True, "feed_age_seconds": 0.4}, "sockets": len(self.connections),
            "leases": len(self.connections), "upstreams_down": 1, "recent_refusals": 300, "reloads": self.reloads}

    def metrics(self):
        """Counters that have grown with every reading."""
        self.requests += 1
        n = self.requests
        count = 700 * n + 90 * (n % 5)
        lines = [
            "# HELP gatehouse_requests_total requests", "# TYPE gatehouse_requests_total counter",
            f'gatehouse_requests_total{{route="/orders",status="200"}} {count}',
            f'gatehouse_requests_total{{route="/orders",status="403"}} {40 * n + 9 * (n % 3)}',
            f'gatehouse_requests_total{{route="api",status="502"}} {3 * n}',
            f'gatehouse_refusals_total{{code="session_mismatch",reason="session_foreign"}} {25 * n + 8 * (n % 4)}',
            f'gatehouse_refusals_total{{code="invalid_token",reason="signature_invalid"}} {12 * n}',
            f'gatehouse_refusals_total{{code="origin_refused",reason="origin_unknown"}} {5 * n}',
            f"gatehouse_sockets {len(self.connections)}", f"gatehouse_leases {len(self.connections)}",
        ]
        for bound, share in [("0.001", 0.3), ("0.005", 0.8), ("0.025", 0.97), ("0.1", 0.995), ("+Inf", 1)]:
            lines.append(f'gatehouse_request_duration_seconds_bucket{{route="/orders",le="{bound}"}} {int(count * share)}')
        return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # one request, one answer, as the gateway does

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", fields=()):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, detail=""):
        self.answer(status, {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail},
                    "application/problem+json")

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        url = urllib.parse.urlsplit(self.path)
        gateway = self.server.gateway
        if url.path == "/metrics":
            return self.answer(200, gateway.metrics().encode(), "text/plain; version=0.0.4; charset=utf-8")
        if url.path in ADMIN:
            kind, file = ADMIN[url.path]
            return self.answer(200, file.read_bytes(), kind, [("Content-Security-Policy", POLICY)])
        if not url.path.startswith("/api/admin/"):
            return self.answer(404, b"not found\n", "text/plain")
        given = self.headers.get("Authorization", "")
        if given == "Bearer reader":
            return self.refuse(403, "insufficient_scope", "gatehouse:admin is needed")
        if given != f"Bearer {TOKEN}":
            return self.refuse(401, "invalid_token" if given else "credentials_missing")
        with gateway.lock:
            self.admin(gateway, self.command, url.path.removeprefix("/api/admin/"),
                       dict(urllib.parse.parse_qsl(url.query)), json.loads(body or b"{}"))

    do_GET = do_DELETE = do_PUT = do_POST = handle_any

    def admin(self, gateway, method, path, query, body):
        gateway.done.append(f"{method} {path}")
        name, _, rest = path.partition("/")
        if (method, path) == ("GET", "overview"):
            return self.answer(200, gateway.overview())
        if path == "log-level":
            if method == "PUT":
                gateway.level = {"level": body["level"], "until": date(body["seconds"])}
            return self.answer(200, gateway.level)
        if (method, path) == ("GET", "config"):
            return self.answer(200, {"files": ["config/gatehouse.yaml"], "values": [
                {"key": "server.listen", "value": "127.0.0.1:8080", "from": "default"},
                {"key": "log.level", "value": "info", "from": "environment"},
                {"key": "routes[0].path", "value": "/orders", "from": "file", "line": 12}]})
        if (method, path) == ("POST", "reload"):
            gateway.reloads = {"last_at": date(0), "last_result": "reloaded"}
            return self.answer(200, {"result": "reloaded", "need_restart": ["server.listen"]})
        lists = gateway.lists()
        if method == "DELETE" and name in ("sessions", "connections", "grants"):
            gone = {"sessions": gateway.sessions, "connections": gateway.connections, "grants": {"gra_1": 1}}[name].pop(rest, None)
            return self.answer(204) if gone else self.refuse(404, "not_found")
        if method == "GET" and name == "refusals" and rest:
            found = next((one for one in lists["refusals"] if one["request_id"] == rest), None)
            if found is None:
                return self.refuse(404, "not_found")
            return self.answer(200, {**found, "check": "session ownership", "configuration": {
                "file": "config/gatehouse.yaml", "line": 14, "key": "routes[0].require"}})
        if method != "GET" or name not in lists:
            return self.refuse(404, "not_found")
        rows = [row for row in lists[name] if all(
            str(row.get({"user": "user_id", "tenant": "tenant_id"}.get(key, key))) == value
            for key, value in query.items() if key not in ("limit", "after"))]
        if "application/x-ndjson" in self.headers.get("Accept", "") and self.server.streams:
            return self.answer(200, b"".join(json.dumps(row).encode() + b"\n" for row in rows), "application/x-ndjson")
        limit, after = int(query.get("limit", 100)), int(query.get("after", 0))
        more = after + limit < len(rows)
        self.answer(200, {name: rows[after:after + limit], "next": str(after + limit) if more else None})


def serve(port=0, sessions=50_000, streams=True):
    """A server in a thread of its own: `.origin`, `.gateway`, `.shutdown()`."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.gateway, server.streams = Gateway(sessions), streams
    server.origin = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    running = serve(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)
    print(running.origin, flush=True)
    threading.Event().wait()
