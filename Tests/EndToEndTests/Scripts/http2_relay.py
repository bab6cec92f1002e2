"""Relayed WebSockets over HTTP/2, seen from both ends: this script is the client and the upstream.

Usage: http2_relay.py PORT UPSTREAM_PORT EXPIRED_TOKEN EMAIL PASSWORD OTHER_EMAIL OTHER_PASSWORD. The gateway has the
routes `/ws` (token and session, WebSocket) and `/plain` (no WebSocket). Prints one JSON object: what each check saw.
"""

import base64
import hashlib
import json
import os
import socket
import sys
import threading
import time

import h2.events

from http2_client import PORT, Connection, Frames, connect, frame

UPSTREAM_PORT, EXPIRED = int(sys.argv[2]), sys.argv[3]
HALF = bytes([0x82, 100]) + b"a" * 50
WRONG = {
    "accept": lambda head: head.replace("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: A"),
    "bare": lambda head: "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "h2c": lambda head: head.replace(": websocket", ": h2c"),
    "protocol": lambda head: head.replace("\r\n\r\n", "\r\nSec-WebSocket-Protocol: evil\r\n\r\n"),
    "ok": lambda head: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    "endless": lambda head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\x01\x02\r\n",
    "forbidden": lambda head: "HTTP/1.1 403 No\r\nX-Why: because\r\nContent-Length: 2\r\n\r\nno",
}


class Upstream:
    """Keeps the heads of what it was asked, and answers by the last segment of the path."""

    def __init__(self):
        self.heads = []
        self.may_finish = threading.Event()
        self.open = 0
        self.listener = socket.create_server(("127.0.0.1", UPSTREAM_PORT))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.open += 1
        with client:
            data = b""
            while b"\r\n\r\n" not in data:
                data += client.recv(65536)
            head, _, early = data.partition(b"\r\n\r\n")
            head = head.decode()
            self.heads.append(head)
            self.answer(client, head, early)
        self.open -= 1

    def answer(self, client, head, early):
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
        if "upgrade" not in fields:
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")
            return
        key = next(line for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key:")).split(" ")[1]
        accept = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        switch = ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Accept: %s\r\n\r\n" % base64.b64encode(accept).decode())
        name = head.split(" ")[1].split("?")[0].rpartition("/")[2]
        client.sendall((WRONG[name](switch) if name in WRONG else switch).encode())
        if name == "early":
            client.sendall(b"\x81\x05early")
        if name == "closes":
            client.sendall(b"\x88\x06\x0d\x80done")
            return
        if name in ("half", "stuck"):
            client.sendall(HALF)
        if name == "half":
            self.may_finish.wait(10)
            client.sendall(b"b" * 50 + b"\x81\x05after")
        data = early
        while True:
            if name == "echo":
                client.sendall(data)
            data = client.recv(65536)
            if not data:
                return


def query(token, user):
    return "?access_token=%s&session_id=%s" % (token, user["session_id"])


def refusals(connection, upstream, found, ada, bob):
    token = ada["access_token"]
    cases = {
        "nothing": connect("/ws/echo"),
        "foreign": connect("/ws/echo" + query(token, bob)),
        "expired": connect("/ws/echo" + query(EXPIRED, ada)),
        "origin": connect("/ws/echo" + query(token, ada), ("origin", "https://evil.example")),
    }
    for name, fields in cases.items():
        status, problem = connection.answer(connection.request(fields))
        found[name] = [status, problem["code"]]
    found["unseen"] = upstream.heads == []
    for name in WRONG:
        status, problem = connection.answer(connection.request(connect("/ws/" + name + query(token, ada))))
        found[name] = [status, problem["code"] if isinstance(problem, dict) else problem]
    # What is no WebSocket at all must not look like one: to this client any 2xx is an open tunnel.
    for name in ("/plain", "/", "/.well-known/jwks.json"):
        found[name] = connection.status(connection.request(connect(name)))[0]
    found["many"] = [refused(connection) for _ in range(2000)].count(401)


def refused(connection):
    """The status of a refused tunnel whose client ends its side then: the gateway keeps the stream for that a moment."""
    stream = connection.request(connect("/ws/echo"))
    status = connection.status(stream)[0]
    connection.send(stream, b"", ends=True)
    return status


def untouched(connection, upstream, found, ada):
    upstream.heads.clear()
    path = "/ws/echo?a=1&access_token=%s&session_id=%s&b=2" % (ada["access_token"], ada["session_id"])
    stream = connection.request(connect(path, ("x-gatehouse-user", "usr_evil"), ("cookie", "a=b")))
    found["echo_status"] = connection.status(stream)[0]
    # Reserved bits and an undefined opcode: whatever it means, it is not the gateway's business.
    odd = bytes([0x73, 0x82]) + os.urandom(6)
    sent = odd + b"".join(frame(os.urandom(60000), 2) for _ in range(8)) + frame(b"", 10)
    # All of the client's window first, then as the gateway makes room.
    connection.send(stream, sent)
    frames = Frames(connection, stream)
    found["echo_same"] = frames.take(len(sent)) == sent
    head = upstream.heads[0]
    found["target"] = head.split(" ")[1]
    found["head_clean"] = not any(text in head for text in (ada["access_token"], ada["session_id"], "usr_evil"))
    found["head_user"] = ("x-gatehouse-user: " + ada["user_id"]).lower() in head.lower()
    early = Frames(connection, open_socket(connection, "early", ada))
    found["early"] = early.next()[1].decode()
    closing = Frames(connection, open_socket(connection, "closes", ada))
    found["closes"] = closing.close()
    found["keep_alive"] = keep_alive_timers()
    connection.send(stream, b"", ends=True)
    found["left"] = type(connection.next(stream, (h2.events.StreamEnded, h2.events.StreamReset))).__name__


def open_socket(connection, name, user):
    stream = connection.request(connect("/ws/" + name + query(user["access_token"], user)))
    status, _ = connection.status(stream)
    assert status == 200, status
    return stream


def keep_alive_timers():
    """Seconds until the kernel asks again, on the gateway's ends: its clients' connections, and its upstreams'."""
    ports = {"clients": (1, PORT), "upstreams": (2, UPSTREAM_PORT)}
    timers = {}
    for _ in range(40):
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table][1:]
        for name, (column, port) in ports.items():
            own = [row[5].split(":") for row in rows if row[3] == "01" and int(row[column].split(":")[1], 16) == port]
            timers[name] = [int(when, 16) // 100 for kind, when in own if kind == "02"]
        if all(timers.values()):
            break
        # Bytes that are not acknowledged yet have a timer of another kind.
        time.sleep(0.05)
    return timers


def logout(connection, upstream, found, ada):
    half, stuck = (Frames(connection, open_socket(connection, name, ada)) for name in ("half", "stuck"))
    idle = Frames(connection, open_socket(connection, "echo", ada))
    found["begun"] = half.take(len(HALF)) == HALF and stuck.take(len(HALF)) == HALF
    status, _ = connection.post("/api/auth/logout", {}, ("authorization", "Bearer " + ada["access_token"]))
    upstream.may_finish.set()
    found["logout"] = status
    found["idle_close"] = idle.close()
    found["half_rest"] = half.take(50).decode()
    found["half_close"] = half.close()
    data, found["stuck_end"] = connection.body(stuck.stream)
    found["stuck_rest"] = (stuck.data + data).decode()
    status, problem = connection.answer(connection.request(connect("/ws/echo" + query(ada["access_token"], ada))))
    found["after"] = [status, problem["code"]]


def main():
    found = {}
    upstream = Upstream()
    connection = Connection()
    ada, bob = (connection.login(*sys.argv[index:index + 2]) for index in (4, 6))
    refusals(connection, upstream, found, ada, bob)
    untouched(connection, upstream, found, ada)
    bystander = open_socket(connection, "echo", bob)
    logout(connection, upstream, found, ada)
    connection.send(bystander, frame(b"still here"))
    found["bystander"] = len(Frames(connection, bystander).take(16))
    print(json.dumps(found))


main()
