"""The clients of hand_over.py that make requests: on a connection each, on connections that they keep, and over HTTP/2.

Requests are GET and therefore idempotent. A client that keeps its connection may send one again, on another connection,
where the first was closed before an answer began (RFC 9110 section 9.2.2); that is counted apart. Whatever else goes
wrong is a failed request, and so is a connection that fails at its first one.
"""

import json
import socket
import ssl
import struct
import threading
import time

TARGET = "/.well-known/jwks.json"


class Unanswered(Exception):
    """The connection was closed before an answer began."""


class Requests:
    """Where the clients ask, and what has become of their requests."""

    def __init__(self, port, uses_tls):
        self.port, self.uses_tls = port, uses_tls
        self.served, self.failed, self.failures = 0, 0, []
        # Of those served: on a connection that had served one before, sent again, and over HTTP/2.
        self.reused, self.retried, self.over_http2 = 0, 0, 0
        self.is_over = threading.Event()
        self.lock = threading.Lock()

    def context(self, protocol):
        """What a client trusts; nil without TLS. It is this machine's own certificate."""
        if not self.uses_tls:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols([protocol])
        return context

    def open(self, protocol="http/1.1"):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = self.context(protocol)
        return context.wrap_socket(raw, server_hostname="localhost") if context else raw

    def exchange(self, request, pause=0.0):
        """One request on a connection of its own, which it is sent on after a pause, as from far away."""
        with self.open() as connection:
            time.sleep(pause)
            connection.sendall(request)
            answer = b""
            while True:
                part = connection.recv(65536)
                if not part:
                    return answer
                answer += part

    def login(self, email, password):
        body = json.dumps({"email": email, "password": password}).encode()
        head = b"POST /api/auth/login HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nConnection: close\r\n"
        answer = self.exchange(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        found = json.loads(answer.split(b"\r\n\r\n", 1)[1])
        return found["access_token"], found["session_id"]

    def count(self, fault, reused=False, over_http2=False):
        with self.lock:
            if fault is None:
                self.served += 1
                self.reused += reused
                self.over_http2 += over_http2
            else:
                self.failed += 1
                self.failures.append(fault)

    # MARK: What runs in a thread of its own

    def ask_anew(self, pause):
        """One request after the other, each on a connection of its own. Nothing is tried twice."""
        request = f"GET {TARGET} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode()
        while not self.is_over.is_set():
            try:
                answer = self.exchange(request, pause)
                is_right = answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"}")
                self.count(None if is_right else repr(answer[:80]))
            except OSError as error:
                self.count(repr(error))
            time.sleep(0.005)

    def ask_again(self, kind):
        """One request after the other on the same connection, and on the next one when that has ended."""
        connection, used = None, 0
        while not self.is_over.is_set():
            try:
                connection = connection or kind(self)
                connection.ask()
                self.count(None, reused=used > 0, over_http2=kind is KeptHTTP2)
                used += 1
            except Unanswered as error:
                if used:
                    with self.lock:
                        self.retried += 1
                else:
                    self.count("no answer on a new connection: %s" % error)
                connection.close()
                connection, used = None, 0
                # The request is sent again at once.
                continue
            except (OSError, ValueError, LookupError) as error:
                self.count("%s: %r" % (kind.__name__, error))
                if connection:
                    connection.close()
                connection, used = None, 0
            if connection and connection.is_last:
                connection.close()
                connection, used = None, 0
            time.sleep(0.01)


class KeptHTTP1:
    """A connection over HTTP/1.1 that is kept."""

    def __init__(self, requests):
        self.socket, self.is_last = requests.open(), False

    def close(self):
        self.socket.close()

    def ask(self):
        """Returns when a right answer is there. Raises `Unanswered`, or another error where an answer is wrong."""
        received = b""
        try:
            self.socket.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            while b"\r\n\r\n" not in received:
                received += self.receive()
            head, _, body = received.partition(b"\r\n\r\n")
            fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:])
            while len(body) < int(fields[b"content-length"]):
                body += self.receive()
        except TimeoutError:
            raise
        except OSError as error:
            if received:
                raise
            raise Unanswered(repr(error)) from error
        if not head.startswith(b"HTTP/1.1 200 ") or not body.endswith(b"}"):
            raise ValueError(repr(head[:80]))
        self.is_last = fields.get(b"connection") == b"close"

    def receive(self):
        part = self.socket.recv(65536)
        if not part:
            raise ConnectionError("closed")
        return part


DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
REFUSED_STREAM = 7


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def text(value):
    """A short string of HPACK, not compressed."""
    return bytes([len(value)]) + value.encode()


class KeptHTTP2:
    """A connection over HTTP/2, with one stream after the other. Its frames are written by hand, because `h2` takes no
    more frames after a GOAWAY, although open streams may finish (RFC 9113 section 6.8)."""

    def __init__(self, requests):
        self.socket, self.is_last = requests.open("h2"), False
        if self.socket.selected_alpn_protocol() != "h2":
            raise ValueError("HTTP/2 was not chosen")
        self.received, self.stream = b"", -1
        start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0)
        # A window for the whole connection that is never exhausted.
        self.socket.sendall(start + frame(WINDOW, 0, 0, struct.pack("!I", 1 << 30)))

    def close(self):
        self.socket.close()

    def ask(self):
        self.stream += 2
        # :method GET and :scheme https, which are in the static table, then :path and :authority.
        block = b"\x82\x87\x04" + text(TARGET) + b"\x01" + text("localhost")
        has_begun, body = False, b""
        try:
            # END_HEADERS and END_STREAM.
            self.socket.sendall(frame(HEADERS, 5, self.stream, block))
            while True:
                kind, flags, stream, payload = self.next()
                if kind == GOAWAY:
                    self.is_last = True
                    if struct.unpack("!I", payload[:4])[0] & 0x7FFFFFFF < self.stream:
                        raise Unanswered("GOAWAY before this stream")
                if stream != self.stream:
                    continue
                if kind == RESET:
                    code = struct.unpack("!I", payload)[0]
                    if code == REFUSED_STREAM:
                        raise Unanswered("REFUSED_STREAM")
                    raise ValueError("the stream was reset: %d" % code)
                if kind == HEADERS:
                    # 0x88 is `:status 200` of the static table, which stands first.
                    if payload[:1] != b"\x88":
                        raise ValueError("another status than 200: %r" % payload[:8])
                    has_begun = True
                if kind == DATA:
                    body += payload
                if kind in (HEADERS, DATA) and flags & 1:
                    break
        except TimeoutError:
            raise
        except OSError as error:
            if has_begun:
                raise
            raise Unanswered(repr(error)) from error
        if not body.endswith(b"}"):
            raise ValueError(repr(body[-80:]))

    def next(self):
        """The next frame. What concerns the connection is answered here."""
        head = self.take(9)
        kind, flags = head[3], head[4]
        payload = self.take(int.from_bytes(head[:3], "big"))
        if kind == SETTINGS and not flags & 1:
            self.socket.sendall(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            self.socket.sendall(frame(PING, 1, 0, payload))
        return kind, flags, int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, payload

    def take(self, count):
        while len(self.received) < count:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("closed")
            self.received += part
        taken, self.received = self.received[:count], self.received[count:]
        return taken
