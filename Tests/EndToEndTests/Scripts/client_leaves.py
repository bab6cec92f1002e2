"""Clients that leave: what they held must be free within a second, over every protocol and in every way of leaving.

Usage: client_leaves.py PORT held UPSTREAM_PORT TRANSPORT EMAIL PASSWORD
           fills a session's places with sockets, begins exchanges whose upstream (this script) keeps them open, leaves,
           and tells for every way how many seconds it took until a place and each upstream connection were free.
       client_leaves.py PORT room COUNT TRANSPORT
           fills `server.max_connections` with COUNT clients that have asked and leave, and tells the same of a new one.
       client_leaves.py PORT count UPSTREAM_PORT ADMIN_PORT
           has five requests under way on one connection, and tells how many connections the gateway counts.
       client_leaves.py PORT goaway UPSTREAM_PORT
           sends GOAWAY with and without a stream under way.

TRANSPORT is h2, tls (HTTP/1.1) or plain. Prints one JSON object.
"""

import base64
import hashlib
import json
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.request

import http2_client
from http2_client import PORT, connect, get

PLACES = 16
# Written by hand, since Python's h2 takes no answers after a GOAWAY of its own: no stream of ours, no error.
GOAWAY = bytes([0, 0, 8, 7, 0, 0, 0, 0, 0]) + bytes(8)
PATIENCE = 20
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = base64.b64encode(hashlib.sha1((KEY + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()


class Upstream:
    """Holds every exchange open, by the last segment of its path, and keeps when the gateway closed it."""

    def __init__(self, port):
        self.began, self.closed = {}, {}
        self.may_answer = threading.Event()
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        data = b""
        while b"\r\n\r\n" not in data:
            part = client.recv(65536)
            if not part:
                return
            data += part
        name = data.split(b" ")[1].decode().split("?")[0].rpartition("/")[2]
        if name == "events":
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                           b"9\r\ndata: x\n\n\r\n")
        if name in ("ws", "open"):
            client.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Accept: %s\r\n\r\n" % accept_of(data)).encode())
        self.began[name] = time.monotonic()
        if name == "later":
            self.may_answer.wait(60)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlater")
        try:
            while client.recv(65536):
                pass
        except OSError:
            pass
        self.closed[name] = time.monotonic()
        client.close()


def accept_of(head):
    lines = head.decode().split("\r\n")
    key = next(line for line in lines if line.lower().startswith("sec-websocket-key:")).split(" ")[1]
    return base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()


def until(condition):
    """The seconds until it holds; a number that is too large when it does not in time."""
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE:
        if condition():
            return time.monotonic() - start
        time.sleep(0.02)
    return 99.0


class HTTP2:
    """Everything on one connection."""

    ways = ["fin", "close_notify", "close", "reset", "goaway"]

    def __init__(self):
        self.connection = http2_client.Connection()

    def sockets(self):
        return [self.connection.socket]

    def login(self, email, password):
        return self.connection.login(email, password)

    def begin(self, path, *fields):
        return self.connection.request(get("GET", path, *fields), ends=True)

    def upgrade(self, path, *fields):
        return self.connection.status(self.connection.request(connect(path, *fields)))[0] == 200

    def leave(self, way):
        if way == "goaway":
            self.connection.h2.close_connection()
            self.connection.flush()
        end(self.connection.socket, "close" if way == "goaway" else way)


class HTTP1:
    """A connection for everything."""

    ways = ["fin", "close_notify", "close", "reset"]

    def __init__(self, is_tls=True):
        self.is_tls = is_tls
        self.open = []
        if not is_tls:
            self.ways = ["fin", "close", "reset"]

    def socket(self):
        raw = socket.create_connection(("127.0.0.1", PORT), 60)
        if self.is_tls:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            context.set_alpn_protocols(["http/1.1"])
            raw = context.wrap_socket(raw, server_hostname="localhost")
        self.open.append(raw)
        return raw

    def send(self, method, path, fields, body=b""):
        client = self.socket()
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost:%d" % PORT] + ["%s: %s" % field for field in fields]
        client.sendall("\r\n".join(lines + ["", ""]).encode() + body)
        return client

    def head(self, client):
        data = b""
        while b"\r\n\r\n" not in data:
            part = client.recv(65536)
            if not part:
                raise EOFError
            data += part
        head, _, rest = data.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), head.decode().lower(), rest

    def login(self, email, password):
        body = json.dumps({"email": email, "password": password}).encode()
        fields = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        client = self.send("POST", "/api/auth/login", fields, body)
        status, head, rest = self.head(client)
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        while len(rest) < length:
            rest += client.recv(65536)
        assert status == 200, rest
        return json.loads(rest)

    def begin(self, path, *fields):
        return self.send("GET", path, fields)

    def upgrade(self, path, *fields):
        client = self.send("GET", path, list(fields) + [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", KEY)])
        is_open = self.head(client)[0] == 101
        if not is_open:
            self.open.remove(client)
            client.close()
        return is_open

    def leave(self, way):
        for client in self.open:
            end(client, way)


def end(client, way):
    if way == "fin":
        socket.socket.shutdown(client, socket.SHUT_WR)
    elif way == "close_notify":
        client.settimeout(0.01)
        try:
            client.unwrap()
        except (OSError, ValueError):
            pass
    elif way == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    else:
        client.close()


def client_of(transport):
    return HTTP2() if transport == "h2" else HTTP1(transport == "tls")


def held(found):
    upstream = Upstream(int(sys.argv[3]))
    transport, email, password = sys.argv[4:7]
    for way in client_of(transport).ways:
        upstream.began.clear()
        upstream.closed.clear()
        client, other = client_of(transport), client_of(transport)
        user = other.login(email, password)
        fields = [("authorization", "Bearer " + user["access_token"]), ("session-id", user["session_id"])]
        for _ in range(PLACES - 1):
            assert client.upgrade("/api/runtime/agent", *fields)
        assert client.upgrade("/relayed/ws", *fields)
        assert not other.upgrade("/api/runtime/agent", *fields), "a free place"
        names = ["ws", "events"]
        # Over HTTP/1.1 the orderly end of a client's side does not mean that it leaves: it may be waiting for its answer.
        if transport == "h2" or way == "reset" or (transport == "tls" and way in ("fin", "close")):
            names.append("pending")
        for name in names[1:]:
            client.begin("/open/" + name)
        until(lambda: all(name in upstream.began for name in names))
        client.leave(way)
        start = time.monotonic()
        place = until(lambda: other.upgrade("/api/runtime/agent", *fields))
        until(lambda: all(name in upstream.closed for name in names))
        ends = {name: max(0, upstream.closed.get(name, start + 99) - start) for name in names}
        found[way] = {"place": place, **ends}
        other.leave("close")


def room(found):
    count, transport = int(sys.argv[3]), sys.argv[4]

    def answered():
        """A client that has asked and was answered; None when there is no room for it."""
        try:
            client = client_of(transport)
            stream = client.begin("/")
            status = client.connection.status(stream)[0] if transport == "h2" else client.head(stream)[0]
        except (OSError, EOFError):
            return None
        return client if status == 200 else None

    def is_answered():
        if client := answered():
            client.leave("close")
        return client

    for way in client_of_ways(transport):
        clients = []

        def has_room():
            # What has just left is still being counted for a moment.
            if client := answered():
                clients.append(client)
            return client

        for _ in range(count):
            assert until(has_room) < PATIENCE
        assert not answered(), "room for one more"
        for client in clients:
            client.leave(way)
        found[way] = until(is_answered)


def client_of_ways(transport):
    return {"h2": HTTP2.ways, "tls": HTTP1.ways, "plain": ["fin", "close", "reset"]}[transport]


def closed_by_peer(connection):
    """The seconds until the gateway has closed."""
    start = time.monotonic()
    connection.socket.settimeout(PATIENCE)
    try:
        while connection.socket.recv(65536):
            pass
    except TimeoutError:
        return 99.0
    except OSError:
        pass
    return time.monotonic() - start


def goaway(found):
    upstream = Upstream(int(sys.argv[3]))
    idle = http2_client.Connection()
    idle.socket.sendall(GOAWAY)
    found["idle"] = closed_by_peer(idle)
    asked = http2_client.Connection()
    assert asked.status(asked.request(get("GET", "/"), ends=True))[0] == 200
    asked.socket.sendall(GOAWAY)
    found["asked"] = closed_by_peer(asked)
    busy = http2_client.Connection()
    stream = busy.request(get("GET", "/open/later"), ends=True)
    until(lambda: "later" in upstream.began)
    busy.socket.sendall(GOAWAY)
    # An acknowledged ping shows that the GOAWAY has been read, and that the connection is open still.
    busy.h2.ping(b"is read!")
    busy.flush()
    busy.socket.settimeout(PATIENCE)
    busy.pump()
    upstream.may_answer.set()
    found["busy"] = list(busy.answer(stream))
    found["busy_closed"] = closed_by_peer(busy)


def count(found):
    upstream = Upstream(int(sys.argv[3]))
    client = http2_client.Connection()
    for number in range(5):
        client.request(get("GET", "/open/%d" % number), ends=True)
    until(lambda: len(upstream.began) == 5)
    with urllib.request.urlopen("http://127.0.0.1:%s/metrics" % sys.argv[4]) as answer:
        lines = answer.read().decode().split("\n")
    found["open"] = next(line for line in lines if line.startswith("gatehouse_open_connections")).split(" ")[1]
    found["began"] = len(upstream.began)


found = {}
{"count": count, "held": held, "room": room, "goaway": goaway}[sys.argv[2]](found)
print(json.dumps(found))
