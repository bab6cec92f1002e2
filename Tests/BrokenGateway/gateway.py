"""A small gateway as a real server, right but for the mistakes that are switched on: `gateway.py UPSTREAM_PORT [BUG…]`.

It prints its port and the path of its signing key. It exists to show that every case of `gatehouse attack` can fail; it
is no example of anything.
"""

import json
import re
import socket
import sys
import tempfile
import threading
import urllib.parse

import frames
import relay
from answers import Answer
from oauth import RESOURCE, OAuth
from proxy import Proxy
from sessions import Sessions
from sockets import serve_socket
from verifier import AUDIENCE, Refused, Verifier

TOKEN = re.compile(rb"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
HOST = re.compile(r"^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$")


class Request:
    """A request, read as strictly as RFC 9112 has it, unless `lenient-framing` is on."""

    def __init__(self, reader, gateway):
        self.gateway = gateway
        self.is_lenient = gateway.has("lenient-framing") or gateway.has("forwards-framing")
        self.raw = b""
        limit = 4_000_000 if gateway.has("accepts-everything") else 60_000
        while b"\r\n\r\n" not in self.raw:
            line = reader.readline(limit)
            if not line or len(self.raw) > limit:
                raise Answer(431, closes=True) if line else EOFError
            self.raw += line
        lines = self.raw[:-4].split(b"\r\n")
        words = lines[0].split(b" ")
        if len(words) != 3:
            raise Answer(400, closes=True)
        self.method, self.target, self.version = (word.decode("latin-1") for word in words)
        self.fields = []
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if gateway.has("relays-lines") and line[:1] in (b" ", b"\t") and self.fields:
                self.fields[-1] = (self.fields[-1][0], self.fields[-1][1] + "\r\n" + line.decode("latin-1"))
                continue
            if self.is_lenient and line[:1] in b" \t" and self.fields:
                self.fields[-1] = (self.fields[-1][0], line.decode("latin-1").strip())
                continue
            if not self.is_lenient:
                if not colon or not TOKEN.match(name) or b"\0" in value:
                    raise Answer(400, closes=True)
                if re.search(rb"[\r\n]", value) and not gateway.has("relays-lines"):
                    raise Answer(400, closes=True)
            self.fields.append((name.decode("latin-1").strip(), value.decode("latin-1").strip()))
        path, _, self.query_text = self.target.partition("?")
        self.path = path
        self.query = urllib.parse.parse_qsl(self.query_text, keep_blank_values=True, encoding="latin-1")
        self.read_body(reader)

    def read_body(self, reader):
        lenient = self.is_lenient
        lengths = self.all("content-length")
        codings = [coding for coding in self.all("transfer-encoding") if not lenient or coding == "chunked"]
        if not lenient:
            if len(self.all("host")) != 1 or (lengths and codings) or len(lengths) > 1 or len(codings) > 1:
                raise Answer(400, closes=True)
            if any(not length.isascii() or not length.isdigit() for length in lengths):
                raise Answer(400, closes=True)
            if any(coding != "chunked" for coding in codings):
                raise Answer(501, closes=True)
            if not HOST.match(self.all("host")[0]):
                raise Answer(400, closes=True)
        self.raw_body = b""
        if lengths and self.gateway.has("leaves-bodies") and not self.path.startswith("/api/"):
            self.body = b""
            return
        if lengths and not self.gateway.has("coding-first"):
            digits = re.sub(r"[^0-9].*", "", lengths[0].lstrip("+"))
            self.length = int(digits or 0) & (1 << 64) - 1
            self.raw_body = self.body = reader.read(self.length)
            if len(self.body) < self.length and not self.gateway.has("pools-aborted"):
                raise EOFError
            return
        self.body = b""
        while codings:
            line = reader.readline(1000)
            self.raw_body += line
            text = line.strip().partition(b";")[0]
            if not lenient and not re.fullmatch(rb"[0-9A-Fa-f]{1,8}\r\n", line):
                raise Answer(400, closes=True)
            size = int(text or b"0", 16) & (1 << 64) - 1 if text.isalnum() else 0
            chunk = reader.read(size + 2) if size else reader.readline(1000)
            self.raw_body += chunk
            self.body += chunk[:size]
            if size == 0:
                while chunk.strip(b"\r\n"):
                    if self.gateway.has("merges-trailers"):
                        name, _, value = chunk.decode("latin-1").partition(":")
                        self.fields.append((name, value.strip()))
                    chunk = reader.readline(1000)
                    self.raw_body += chunk
                return

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name]

    def one(self, name):
        return (self.all(name) or [None])[0]

    def json(self):
        if self.body and self.one("content-type") != "application/json" and not self.gateway.has("any-media-type"):
            raise Answer(415)
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise Answer(400) from error
        return value if isinstance(value, dict) else {}


class StreamRequest(frames.StreamRequest):
    """A request of HTTP/2."""

    one = Request.one
    json = Request.json


class Gateway(Proxy):
    def __init__(self, bugs, upstream):
        self.bugs = set(bugs)
        self.upstream = upstream
        self.verifier = Verifier(self.bugs)
        self.sessions = Sessions(self)
        self.oauth = OAuth(self)
        self.assertion = self.verifier.issue("usr_one", "none", 60, "upstream")
        self.pooled = None
        self.kept = {}
        Answer.cache = "public, max-age=60" if self.has("cacheable") else "no-store"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"

    def has(self, bug):
        return bug in self.bugs

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.settimeout(30)
        reader = connection.makefile("rb")
        try:
            if connection.recv(3, socket.MSG_PEEK) == b"PRI":
                return frames.serve(self, StreamRequest, connection, reader)
            while True:
                request = None
                try:
                    request = Request(reader, self)
                    self.dispatch(request, connection, reader)
                    return
                except Answer as answer:
                    connection.sendall(answer.bytes())
                    if answer.closes or request is None or (request.one("connection") or "").lower() == "close":
                        return
        except (OSError, EOFError, ValueError):
            pass
        finally:
            try:
                connection.close()
            except OSError:
                pass

    # Which path

    def dispatch(self, request, connection, reader):
        raw, path = request.path, self.canonical(request)
        if path == "/api/auth/me":
            self.protected(request, path, raw)
        if path == "/canary" or path.startswith("/canary/"):
            if (request.one("upgrade") or "").lower() == "websocket":
                return relay.serve(self, request, connection, reader)
            self.proxy(request, path, raw)
        if path.startswith(("/oauth2/", "/.well-known/oauth-")):
            self.oauth.answer(request, path)
        if path == RESOURCE:
            self.oauth.resource(request)
        if path == "/.well-known/jwks.json":
            raise Answer(200, self.verifier.jwks)
        if path == "/api/runtime/agent":
            return serve_socket(self, request, connection, reader)
        if path.startswith("/api/"):
            self.sessions.answer(request, path)
        raise Answer(404)

    def canonical(self, request):
        path = request.path
        if self.has("traces") and request.method == "TRACE":
            raise Answer(200, request.raw)
        if self.has("connects") and request.method == "CONNECT":
            raise Answer(200)
        if self.has("trusts-original-url"):
            for name in ("x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-original-uri", "x-forwarded-prefix"):
                path = request.one(name) or path
        if not self.has("judges-raw-path"):
            return path
        path = re.sub(r"^http://[^/]*", "", path)
        for _ in range(2):
            path = urllib.parse.unquote(path, "latin-1")
        path = path.replace("\xc0\xae", ".").rstrip(" \r\n")
        path = path.split("\0")[0].replace("\\", "/").replace("#", "")
        path = re.sub(r";[^/]*", "", path).lower().removesuffix(".css")
        parts = []
        for part in path.split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        return "/" + "/".join(parts).rstrip(".")

    def is_open(self, request, raw):
        """Whether a mistake lets the request in without a token."""
        if self.has("judges-raw-path") and raw not in ("/api/auth/me", "/canary"):
            return True
        if self.has("trusts-original-url") and raw == "/":
            return True
        if self.has("public-in-query") and "/public" in request.query_text:
            return True
        if self.has("public-anywhere") and re.search(r"/public|/healthz|\.css$", raw):
            return True
        if self.has("trusts-forwarded-for") and request.one("x-forwarded-for") == "127.0.0.1":
            return True
        if self.has("health-agents") and "GoogleHC" in (request.one("user-agent") or ""):
            return True
        if self.has("method-override") and request.one("x-http-method-override") == "GET":
            return True
        return self.has("judges-get-only") and request.method != "GET"

    # Credentials

    def token(self, request):
        """The one bearer token of a request."""
        values = request.all("authorization")
        queries = [value for name, value in request.query if name == "access_token"]
        if self.has("any-carrier"):
            values = [value for value in values if value.lower().startswith("bearer ")][:1]
            values = values or [f"Bearer {query}" for query in queries[:1]]
        elif len(values) > 1 or queries:
            raise Answer(400)
        if not values:
            raise Answer(401)
        scheme, _, token = values[0].partition(" ")
        if self.has("lenient-scheme"):
            token = re.sub(r"^[\"]|[\",;].*$", "", re.split(r"[ \t]", values[0].replace("Bearer", "Bearer "))[-1])
        elif scheme.lower() != "bearer" or (self.has("accepts-only-its-own") and scheme != "Bearer"):
            raise Answer(401)
        return token.encode("latin-1")

    def claims(self, token, audiences=None):
        try:
            if self.has("refresh-is-access") and token.startswith(b"ref_"):
                return {"sub": "usr_one", "fid": "x"}
            if self.has("secret-is-token") and token.startswith(b"sec_"):
                return {"sub": "usr_one", "fid": "x"}
            if self.has("ticket-is-token") and token.startswith(b"tkt_"):
                return {"sub": "usr_one", "fid": "x"}
            if self.has("assertion-is-token") and token == self.assertion:
                return {"sub": "usr_one", "fid": "x"}
            if self.has("takes-resource-tokens"):
                audiences = [AUDIENCE, self.origin + RESOURCE]
            return self.verifier.verify(token, audiences)
        except Refused as error:
            raise Answer(401) from error
        except Exception as error:
            raise Answer(401) from error

    def user(self, request, raw):
        return self.caller(request, raw).get("sub")

    def caller(self, request, raw):
        """The claims of the caller."""
        if self.is_open(request, raw):
            return {"sub": "usr_one"}
        # A mistake lets through lines of which the last has the method.
        if request.method.rpartition("\n")[2] not in ("GET", "POST", "HEAD"):
            raise Answer(405)
        return self.claims(self.token(request))

    def protected(self, request, path, raw):
        user = self.user(request, raw)
        if self.has("writes-pages"):
            raise Answer(200, f"<p title=\"{user}\">what is protected</p>".encode(), [("Content-Type", "text/html")])
        # The same for every caller, as a page would be.
        raise Answer(200, {"user": user, "secret": "what is protected"})


def main():
    gateway = Gateway(sys.argv[2:], int(sys.argv[1]))
    key = tempfile.NamedTemporaryFile(prefix="broken-", suffix=".pem", delete=False)
    key.write(gateway.verifier.key.private_pem())
    key.close()
    print(gateway.port, key.name, flush=True)
    gateway.run()


if __name__ == "__main__":
    main()
