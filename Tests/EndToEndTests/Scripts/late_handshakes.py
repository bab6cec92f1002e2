"""Handshakes that are under way when a gateway is told to stop.

usage: late_handshakes.py PORT PROCESS_ID

Begins two handshakes, one for HTTP/1.1 and one for HTTP/2, and has the gateway's first flight of each before it sends
SIGTERM. When no client can connect any more, it finishes both, asks, and reads until the gateway closes. Prints the two
statuses and the `Connection` of the first answer.
"""

import json
import os
import signal
import socket
import ssl
import sys
import time

import h2.config
import h2.connection
import h2.events

PORT, PROCESS = int(sys.argv[1]), int(sys.argv[2])
TARGET = "/.well-known/jwks.json"


class Handshake:
    """A connection whose client has sent its first flight, and not its last."""

    def __init__(self, protocol):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols([protocol])
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=60)
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self.flush()
        # The gateway answers, so it has accepted the connection.
        self.early = self.socket.recv(65536)

    def flush(self):
        data = self.outgoing.read()
        if data:
            self.socket.sendall(data)

    def finish(self, request):
        """Sends the end of the handshake and a request at once."""
        self.incoming.write(self.early)
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.incoming.write(self.socket.recv(65536))
        self.tls.write(request)
        self.flush()

    def receive(self):
        """Some bytes of the answer; none where the gateway has closed."""
        while True:
            try:
                return self.tls.read(65536)
            except ssl.SSLWantReadError:
                data = self.socket.recv(65536)
                if not data:
                    return b""
                self.incoming.write(data)
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def write(self, data):
        self.tls.write(data)
        self.flush()


def first(handshake):
    handshake.finish(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % TARGET).encode())
    answer = b""
    while part := handshake.receive():
        answer += part
    head = answer.split(b"\r\n\r\n")[0].decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head[1:])
    return int(head[0].split()[1]), fields.get("connection")


def second(handshake):
    client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
    client.initiate_connection()
    fields = [(":method", "GET"), (":path", TARGET), (":scheme", "https"), (":authority", "localhost")]
    client.send_headers(1, fields, end_stream=True)
    handshake.finish(client.data_to_send())
    status = None
    while part := handshake.receive():
        for event in client.receive_data(part):
            if isinstance(event, h2.events.ResponseReceived):
                status = int(dict(event.headers)[":status"])
        data = client.data_to_send()
        if data and status is None:
            handshake.write(data)
    return status


def main():
    one, two = Handshake("http/1.1"), Handshake("h2")
    os.kill(PROCESS, signal.SIGTERM)
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT), timeout=60).close()
        except OSError:
            break
        time.sleep(0.01)
    status, connection = first(one)
    print(json.dumps({"http1": status, "connection": connection, "http2": second(two)}))


main()
