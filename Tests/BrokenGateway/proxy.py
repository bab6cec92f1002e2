"""What the broken gateway passes on to its upstream."""

import re
import socket
import urllib.parse

from answers import Answer


class Proxy:
    """The part of the gateway that talks to the upstream."""

    IDENTITY = ("X-Gate-User", "X-Gate-Realm")
    OF_CONNECTIONS = ("connection", "content-length", "transfer-encoding", "upgrade", "http2-settings")
    KNOWN = re.compile(r"(x-auth-|x-user|x-remote-|remote-user|x-webauth-|x-forwarded-|forwarded$|x-real-ip|x-original-"
                       r"|x-rewrite-|x-http-method)")

    def is_kept(self, name):
        """Whether the upstream may be told a field of the caller."""
        alias = name.lower() if self.has("strips-exact-names") else re.sub(r"[_.]", "-", name.lower())
        own, known = alias.startswith("x-gate-"), self.KNOWN.match(alias)
        if (own and not self.has("keeps-own-names")) or (known and not self.has("keeps-known-names")):
            return False
        if alias in ("session-secret", "session-id", "cookie"):
            return self.has("forwards-secrets")
        return alias != "authorization" or self.has("forwards-token")

    def identity(self, caller):
        """What the upstream is told about the caller."""
        told = [(self.IDENTITY[0], caller.get("sub")), (self.IDENTITY[1], caller.get("tenant_id", "default"))]
        told += [("X-Gate-" + name.replace("_", "-"), caller[name])
                 for name in ("client_id", "scope", "email", "name") if name in caller]
        return [(name, self.told(value)) for name, value in told] + [
            ("X-Gate-Assertion", self.assertion.decode()), ("X-Forwarded-For", "127.0.0.1")]

    def told(self, claim):
        """A claim as the value of a field."""
        text = str(claim)
        if self.has("low-bytes"):
            return text.encode("utf-16-le")[::2].decode("latin-1")
        if not self.has("raw-claims") and not re.fullmatch(r"[\x20-\x7e]*", text):
            raise Answer(403)
        return text

    def proxy(self, request, path, raw):
        if self.has("caches-files") and path in self.kept:
            raise Answer(200, self.kept[path])
        caller = self.caller(request, raw)
        is_stream = request.version == "HTTP/2"
        verbatim = self.has("forwards-framing") or is_stream and (self.has("h2-length") or self.has("h2-coding"))
        fields = []
        for name, value in request.fields:
            if name.lower() == "sec-websocket-protocol" and not self.has("forwards-offers"):
                continue
            if name.lower() in ("upgrade", "http2-settings", "connection") and self.has("forwards-upgrade"):
                fields.append((name, value))
            elif self.is_kept(name) and (verbatim or name.lower() not in self.OF_CONNECTIONS):
                fields.append((name, value))
        fields += self.identity(caller)
        body = request.raw_body if verbatim else request.body
        if body and not verbatim:
            fields.append(("Content-Length", str(getattr(request, "length", len(body)))))
        if self.has("connection-last") or is_stream and self.has("h2-connection"):
            listed = {name.strip().lower() for name in (request.one("connection") or "").split(",")}
            fields = [(name, value) for name, value in fields if name.lower() not in listed]
        target = "/canary" + path.removeprefix("/canary") + "?" + request.query_text
        if self.has("decodes-target"):
            target = urllib.parse.unquote(target, "latin-1")
        head = f"{request.method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
        answer = self.exchange(head.encode("latin-1") + b"\r\n" + body, getattr(request, "length", 0) > len(body))
        if self.has("caches-files") and path.endswith(".css"):
            self.kept[path] = answer.partition(b"\r\n\r\n")[2]
        self.relay(answer)

    def forward(self, request, user, fields):
        """A request of the protected resource, of which only the path is kept."""
        lines = [("Host", "upstream"), (self.IDENTITY[0], user)] + fields
        head = f"{request.method} {request.target} HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in lines)
        self.exchange(head.encode("latin-1") + b"\r\n")

    def exchange(self, request, is_part=False):
        """Sends a request, or a part of one, to the upstream and returns what it answers, as it stands."""
        try:
            was_pooled, self.pooled = self.pooled, None
            upstream = was_pooled or socket.create_connection(("127.0.0.1", self.upstream), timeout=5)
            upstream.sendall(request)
            if is_part:
                self.pooled = upstream
                raise Answer(504, closes=True)
            upstream.settimeout(3)
            answer = upstream.recv(65536)
            if was_pooled and not answer:
                return self.exchange(request)  # It had been closed meanwhile.
            if self.has("pools-blindly"):
                # What comes behind the answer may be a moment late.
                upstream.settimeout(0.2)
                try:
                    answer += upstream.recv(65536)
                except TimeoutError:
                    pass
                # One answer is taken, and what came behind it is left for the next request.
                end = answer.find(b"\r\n\r\n") + 4
                length = re.search(rb"Content-Length: (\d+)", answer)
                has_body = not request.startswith(b"HEAD ") and answer.split(b" ")[1] not in (b"204", b"304")
                end += int(length[1]) if length and has_body else 0
                self.pooled = Leftover(upstream, answer[end:])
                answer = answer[:end]
            else:
                upstream.close()
            return answer
        except OSError:
            raise Answer(504) from None

    def relay(self, answer):
        """Passes the upstream's answer on, framed anew."""
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = [line.partition(": ")[::2] for line in head.decode("latin-1").split("\r\n")[1:]]
        framing = [(name, value) for name, value in fields if name.lower() in ("content-length", "transfer-encoding")]
        if self.has("relays-framing"):
            raise Verbatim(answer)
        if len(framing) != 1 or framing[0][0].lower() != "content-length":
            raise Answer(502)
        if len(body) < int(framing[0][1]) and not self.has("relays-parts"):
            raise Answer(502)
        kept = [] if not self.has("relays-cookies") else [field for field in fields if field[0] == "Set-Cookie"]
        raise Answer(200, body[:int(framing[0][1])], kept)


class Leftover:
    """A connection that is used again with the bytes that were left on it."""

    def __init__(self, connection, rest):
        self.connection, self.rest = connection, rest

    def sendall(self, data):
        self.connection.sendall(data)

    def settimeout(self, seconds):
        self.connection.settimeout(seconds)

    def recv(self, size):
        if self.rest:
            rest, self.rest = self.rest, b""
            return rest
        return self.connection.recv(size)


class Verbatim(Answer):
    """An answer that goes out as it came."""

    def __init__(self, raw):
        super().__init__(200, closes=True)
        self.raw = raw

    def bytes(self):
        return self.raw
