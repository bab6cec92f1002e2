"""How soon the gateway closes a connection that a client ends, for each way to end it.

    http2_close.py PORT

Prints a JSON object: way of leaving → seconds until the gateway ended the connection, at most `LIMIT`.
"""

import json
import socket
import ssl
import sys
import time

import h2.config
import h2.connection
import h2.events

PORT = int(sys.argv[1])
LIMIT = 30


class Client:
    """TLS over memory, so that its records and the connection under it can end one without the other."""

    def __init__(self):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = socket.create_connection(("127.0.0.1", PORT), 60)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.until_done(self.tls.do_handshake)
        self.h2 = h2.connection.H2Connection(config=h2.config.H2Configuration(client_side=True))
        self.h2.initiate_connection()
        self.flush()

    def until_done(self, step):
        while True:
            try:
                result = step()
                self.push()
                return result
            except ssl.SSLWantReadError:
                self.push()
                data = self.socket.recv(65536)
                if not data:
                    raise ConnectionError("the gateway closed")
                self.incoming.write(data)

    def push(self):
        self.socket.sendall(self.outgoing.read())

    def flush(self):
        self.tls.write(self.h2.data_to_send() or b"")
        self.push()

    def ask(self):
        """One request and its whole answer."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [
            (":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "localhost")], end_stream=True)
        self.flush()
        while True:
            data = self.until_done(lambda: self.tls.read(65536))
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                if isinstance(event, h2.events.StreamEnded):
                    return
            self.flush()

    def seconds_until_end(self):
        began = time.monotonic()
        try:
            while (left := LIMIT - (time.monotonic() - began)) > 0:
                self.socket.settimeout(left)
                if not self.socket.recv(65536):
                    break
        except (TimeoutError, ConnectionResetError):
            pass
        return round(min(LIMIT, time.monotonic() - began), 3)

    # Each way to leave.

    def fin(self):
        self.socket.shutdown(socket.SHUT_WR)

    def goaway(self):
        self.h2.close_connection()
        self.flush()

    def close_notify(self):
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.push()


found = {}
for way in ("fin", "goaway", "close_notify"):
    client = Client()
    client.ask()
    getattr(client, way)()
    found[way] = client.seconds_until_end()
print(json.dumps(found))
