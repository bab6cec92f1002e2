"""Replaces a gateway twice while clients go on, and counts what fails.

    python3 hand_over.py activation|reuse_port BINARY DIRECTORY EMAIL PASSWORD

`activation`: this script holds the listening socket, as systemd does; each gateway is started when the one before has
ended. `reuse_port`: each is started beside the one before, which is ended when the new one is ready.

Requests are made on a new connection each, by clients that never try again. Sockets are closed 1001 by the gateway
that stops; they connect again at once. Prints one JSON object.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import kept_outputs

STYLE, BINARY, PLACE, EMAIL, PASSWORD = sys.argv[1:]
SOCKETS = 40
DRAIN = 3.0

TRAMPOLINE = """
import os, sys
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="public")
os.execv(sys.argv[1], sys.argv[1:])
"""

served, failed, failures = 0, 0, []
lock = threading.Lock()
is_over = threading.Event()


def main():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    if STYLE == "activation":
        listener.listen(1024)
    else:
        listener.close()
    write_configuration(port)
    gateway = start(listener)
    try:
        result = run(port, listener, gateway)
    finally:
        is_over.set()
        for process in running:
            if process.poll() is None:
                process.kill()
    print(json.dumps(result))


def write_configuration(port):
    with open(os.path.join(PLACE, "gatehouse.yaml"), "w") as file:
        file.write(
            "server: {listen: '127.0.0.1:%d', admin: 'off', threads: 1, drain: %ds%s}\n"
            "state: {url: 'sqlite:%s/state.sqlite'}\nkeys: {directory: '%s/keys'}\n"
            "tokens: {issuer: 'http://127.0.0.1:%d'}\nlimits: {enabled: false}\n"
            % (port, DRAIN, ", reuse_port: true" if STYLE == "reuse_port" else "", PLACE, PLACE, port)
        )


running = []


def start(listener):
    """Starts a gateway and waits until it serves."""
    command = [BINARY, "serve", "--config", os.path.join(PLACE, "gatehouse.yaml")]
    kept = {}
    if STYLE == "activation":
        command = [sys.executable, "-c", TRAMPOLINE] + command

        def third():
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)

        kept = {"preexec_fn": third, "close_fds": False}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=kept_outputs.sink(), text=True, **kept)
    running.append(process)
    line = process.stdout.readline()
    if not line.startswith("ready "):
        sys.exit("the gateway does not start: " + line)
    return process


def stop(process):
    process.send_signal(signal.SIGTERM)
    return process


def run(port, listener, gateway):
    token, session = login(port)
    threads = [threading.Thread(target=ask, args=(port, pause), daemon=True) for pause in (0, 0, 0.03, 0.1, 0.1, 0.2)]
    holders = [Holder(port, token, session) for _ in range(SOCKETS)]
    for thread in threads:
        thread.start()
    for holder in holders:
        holder.opened.wait(60)
    for _ in range(2):
        until_served(served + 100)
        old = gateway
        if STYLE == "activation":
            stop(old).wait(60)
            gateway = start(listener)
        else:
            gateway = start(listener)
            stop(old).wait(60)
        if old.returncode != 0:
            sys.exit("the old gateway ended with status %s" % old.returncode)
        until_served(served + 100)
        for holder in holders:
            holder.opened.wait(60)
    is_over.set()
    for thread in threads:
        thread.join(60)
    closes = [close for holder in holders for close in holder.closes]
    times = sorted(time for _, time in closes)
    first_round = times[:SOCKETS]
    return {
        "served": served,
        "failed": failed,
        "failures": failures[:5],
        "sockets": SOCKETS,
        "reopened": sum(holder.reopened for holder in holders),
        "codes": sorted({code for code, _ in closes}),
        "spread": first_round[-1] - first_round[0] if len(first_round) == SOCKETS else -1,
        "lost": sum(holder.lost for holder in holders),
    }


def until_served(count):
    deadline = time.monotonic() + 60
    while served < count:
        if time.monotonic() > deadline:
            sys.exit("no answers: %s" % failures[:5])
        time.sleep(0.02)


def exchange(port, request, pause=0.0):
    """One request on a connection of its own, which it is sent on after a pause, as from far away."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        time.sleep(pause)
        connection.sendall(request)
        answer = b""
        while True:
            part = connection.recv(65536)
            if not part:
                return answer
            answer += part


def login(port):
    body = json.dumps({"email": EMAIL, "password": PASSWORD}).encode()
    head = b"POST /api/auth/login HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nConnection: close\r\n"
    answer = exchange(port, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    found = json.loads(answer.split(b"\r\n\r\n", 1)[1])
    return found["access_token"], found["session_id"]


def ask(port, pause):
    """One request after the other, each on a connection of its own. Nothing is tried twice."""
    global served, failed
    request = b"GET /.well-known/jwks.json HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    while not is_over.is_set():
        try:
            answer = exchange(port, request, pause)
            fault = None if answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"}") else repr(answer[:80])
        except OSError as error:
            fault = repr(error)
        with lock:
            if fault is None:
                served += 1
            else:
                failed += 1
                failures.append(fault)
        time.sleep(0.005)


class Holder(threading.Thread):
    """A socket that is opened again whenever it is closed."""

    def __init__(self, port, token, session):
        super().__init__(daemon=True)
        self.url = "ws://127.0.0.1:%d/api/runtime/agent?access_token=%s&session_id=%s" % (port, token, session)
        self.closes, self.reopened, self.lost = [], 0, 0
        self.opened = threading.Event()
        self.start()

    def run(self):
        while not is_over.is_set():
            try:
                with connect(self.url, open_timeout=60, close_timeout=5) as socket:
                    ready = json.loads(socket.recv(timeout=60))
                    self.lost += ready["type"] != "ready" or bool(ready.get("lost"))
                    self.reopened += bool(self.closes)
                    self.opened.set()
                    while True:
                        socket.recv()
            except ConnectionClosed as closed:
                self.opened.clear()
                if is_over.is_set():
                    return
                self.closes.append((closed.rcvd.code if closed.rcvd else -1, time.monotonic()))
            except Exception as error:
                if is_over.is_set():
                    return
                self.lost += 1
                failures.append("socket: %r" % error)
                return


if __name__ == "__main__":
    main()
