"""Replaces a gateway twice while clients go on, and counts what fails.

    python3 hand_over.py activation|reuse_port BINARY DIRECTORY EMAIL PASSWORD [CERTIFICATE KEY]

`activation`: this script holds the listening socket, as systemd does; each gateway is started when the one before has
ended. `reuse_port`: each is started beside the one before, which is ended when the new one is ready.

Some clients make each request on a new connection and never try again; others keep their connections, with a
certificate over HTTP/2 as well (hand_over_clients.py). Sockets are closed 1001 by the gateway that stops; they connect
again at once and resume after the last event that they have. Other sockets have events made all the time: those that
are made while a socket is closed must come when it is open again, each once. Prints one JSON object.
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
from hand_over_clients import KeptHTTP1, KeptHTTP2, Requests

STYLE, BINARY, PLACE, EMAIL, PASSWORD, *TLS = sys.argv[1:]
SOCKETS, PRODUCERS = 40, 4
DRAIN = 3.0

TRAMPOLINE = """
import os, sys
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="public")
os.execv(sys.argv[1], sys.argv[1:])
"""


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
    requests = Requests(port, bool(TLS))
    try:
        result = run(requests, listener, start(listener))
    finally:
        requests.is_over.set()
        for process in running:
            if process.poll() is None:
                process.kill()
    print(json.dumps(result))


def write_configuration(port):
    more = ", reuse_port: true" if STYLE == "reuse_port" else ""
    if TLS:
        more += ", tls: {certificate: '%s', key: '%s'}" % tuple(TLS)
    with open(os.path.join(PLACE, "gatehouse.yaml"), "w") as file:
        file.write(
            "server: {listen: '127.0.0.1:%d', admin: 'off', threads: 1, drain: %ds%s}\n"
            "state: {url: 'sqlite:%s/state.sqlite'}\nkeys: {directory: '%s/keys'}\n"
            "tokens: {issuer: 'http://127.0.0.1:%d'}\nlimits: {enabled: false}\n"
            % (port, DRAIN, more, PLACE, PLACE, port)
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


def run(requests, listener, gateway):
    token, session = requests.login(EMAIL, PASSWORD)
    holders = [Holder(requests, token, session) for _ in range(SOCKETS)]
    for holder in holders:
        holder.opened.wait(60)
    producers = [Producer(requests, token, session, number) for number in range(PRODUCERS)]
    kept = [KeptHTTP1] * 4 + [KeptHTTP2] * (4 if TLS else 0)
    work = [(requests.ask_anew, pause) for pause in (0, 0, 0.03, 0.1, 0.1, 0.2)]
    work += [(requests.ask_again, kind) for kind in kept]
    threads = [threading.Thread(target=ask, args=(how,), daemon=True) for ask, how in work]
    for thread in threads:
        thread.start()
    for count in (1, 2):
        until_served(requests)
        old = gateway
        if STYLE == "activation":
            stop(old).wait(60)
            gateway = start(listener)
        else:
            gateway = start(listener)
            stop(old).wait(60)
        if old.returncode != 0:
            sys.exit("the old gateway ended with status %s" % old.returncode)
        until_served(requests)
        # Those that fail to come back are counted in the end.
        wait(lambda: all(holder.reopened >= count for holder in holders))
    for producer in producers:
        producer.is_over.set()
    for producer in producers:
        producer.join(60)
    events = sum(producer.made for producer in producers)
    wait(lambda: all(holder.last >= events for holder in holders))
    requests.is_over.set()
    for thread in threads:
        thread.join(60)
    return result(requests, holders, producers, events, len(kept))


def result(requests, holders, producers, events, keepers):
    sockets = holders + producers
    closes = [close for holder in holders for close in holder.closes]
    first_round = sorted(time for _, time in closes)[:SOCKETS]
    return {
        "served": requests.served,
        "failed": requests.failed,
        "reused": requests.reused,
        "retried": requests.retried,
        "over_http2": requests.over_http2,
        "keepers": keepers,
        "failures": (requests.failures + [fault for one in sockets for fault in one.failures])[:5],
        "sockets": SOCKETS,
        "reopened": sum(holder.reopened for holder in holders),
        "codes": sorted({code for code, _ in closes}),
        "spread": first_round[-1] - first_round[0] if len(first_round) == SOCKETS else -1,
        "lost": sum(len(one.failures) for one in sockets),
        "events": events,
        # Those that holders got because they had asked for what they had missed.
        "resumed": sum(holder.resumed for holder in holders),
        "gaps": sum(holder.gaps for holder in holders),
        "doubles": sum(holder.doubles for holder in holders),
        "missing": sum(max(0, events - len(holder.ids)) for holder in holders),
    }


def wait(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def until_served(requests):
    """Waits for a hundred requests more."""
    wanted = requests.served + 100
    wait(lambda: requests.served >= wanted)
    if requests.served < wanted:
        sys.exit("no answers: %s" % requests.failures[:5])


class Agent(threading.Thread):
    """A socket of the agent protocol. Whenever it is closed it is opened again, and resumes after its last event."""

    def __init__(self, requests, token, session):
        super().__init__(daemon=True)
        self.requests = requests
        self.url = "%s://127.0.0.1:%d/api/runtime/agent?access_token=%s&session_id=%s" % (
            "wss" if TLS else "ws", requests.port, token, session)
        self.options = {"ssl": requests.context("http/1.1")} if TLS else {}
        self.is_over = requests.is_over
        self.last, self.closes, self.failures = 0, [], []
        self.opened = threading.Event()

    def run(self):
        while not self.is_over.is_set():
            try:
                url = "%s&resume_from=%d" % (self.url, self.last)
                with connect(url, open_timeout=60, close_timeout=5, **self.options) as socket:
                    ready = json.loads(socket.recv(timeout=60))
                    if ready["type"] != "ready" or ready.get("lost"):
                        self.failures.append("socket: %s after event %d" % (ready, self.last))
                    self.begin(ready)
                    self.opened.set()
                    self.use(socket)
            except ConnectionClosed as closed:
                self.opened.clear()
                if self.is_over.is_set():
                    return
                self.closes.append((closed.rcvd.code if closed.rcvd else -1, time.monotonic()))
            except Exception as error:
                if not self.is_over.is_set():
                    self.failures.append("socket: %r" % error)
                return


class Holder(Agent):
    """Only listens, and checks that the session's events come in their order, each once."""

    def __init__(self, *of):
        super().__init__(*of)
        self.reopened, self.resumed, self.gaps, self.doubles, self.ids = 0, 0, 0, 0, set()
        self.start()

    def begin(self, ready):
        if self.closes:
            self.reopened += 1
            self.resumed += max(0, ready["last_seq"] - self.last)

    def use(self, socket):
        while True:
            event = json.loads(socket.recv())
            # The number of an intent is part of its id; its event says it back.
            if event["type"] != "event" or event["event"] != "result" or event["data"] != {"name": event["id"]}:
                self.failures.append("not the event of an intent: %s" % event)
                continue
            self.doubles += event["seq"] <= self.last or event["id"] in self.ids
            self.gaps += event["seq"] > self.last + 1
            self.last = max(self.last, event["seq"])
            self.ids.add(event["id"])


class Producer(Agent):
    """Has the gateway make an event after the other. An intent whose event had not come when the socket was closed is
    sent again with its id, and must not run a second time."""

    def __init__(self, requests, token, session, number):
        super().__init__(requests, token, session)
        self.number, self.made = number, 0
        self.is_over = threading.Event()
        self.start()

    def begin(self, ready):
        pass

    def use(self, socket):
        while not self.is_over.is_set():
            name = "%d-%d" % (self.number, self.made)
            socket.send(json.dumps({"type": "intent", "id": name, "intent": "echo", "params": {"name": name}}))
            while True:
                event = json.loads(socket.recv(timeout=60))
                if event["type"] != "event":
                    self.failures.append("an intent was refused: %s" % event)
                    break
                self.last = max(self.last, event["seq"])
                if event["id"] == name:
                    self.made += 1
                    break
            time.sleep(0.2)


if __name__ == "__main__":
    main()
