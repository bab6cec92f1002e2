"""An HTTP/2 client for the tests, on Python's `h2`. The first argument of every script is the gateway's port."""

import json
import os
import socket
import ssl
import struct
import sys
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

PORT = int(sys.argv[1])


class Connection:
    """One connection to the gateway: streams by their number, events as they come."""

    def __init__(self, first=None):
        """With `first`, a request's fields go out with the preface, before anything of the gateway's has been read."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", PORT), 60)
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        config = h2.config.H2Configuration(
            client_side=True, validate_outbound_headers=False, normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config=config)
        self.h2.initiate_connection()
        self.first = first and self.h2.get_next_available_stream_id()
        if first:
            self.h2.send_headers(self.first, first, end_stream=True)
        self.flush()
        self.events = {}
        self.is_terminated = False
        self.offers_connect = False
        while not self.offers_connect:
            self.pump()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def pump(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RemoteSettingsChanged):
                setting = event.changed_settings.get(h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL)
                self.offers_connect = self.offers_connect or (setting is not None and setting.new_value == 1)
            if isinstance(event, h2.events.ConnectionTerminated):
                self.is_terminated = True
            if isinstance(event, h2.events.DataReceived):
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            stream = getattr(event, "stream_id", None)
            event.seen_at = time.time()
            if stream:
                self.events.setdefault(stream, []).append(event)
        self.flush()

    def request(self, fields, ends=False):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, fields, end_stream=ends)
        self.flush()
        return stream

    def next(self, stream, kinds):
        while True:
            queue = self.events.setdefault(stream, [])
            while queue:
                event = queue.pop(0)
                if isinstance(event, kinds):
                    return event
            self.pump()

    def status(self, stream):
        event = self.next(stream, (h2.events.ResponseReceived, h2.events.StreamReset))
        if isinstance(event, h2.events.StreamReset):
            return 0, {}
        headers = dict(event.headers)
        headers = {k.decode() if isinstance(k, bytes) else k: v.decode() if isinstance(v, bytes) else v
                   for k, v in headers.items()}
        return int(headers[":status"]), headers

    def send(self, stream, data, ends=False):
        """Sends it all, as fast as the gateway makes room for it."""
        while len(data) > 0:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if room == 0:
                self.flush()
                self.pump()
                continue
            self.h2.send_data(stream, data[:room])
            data = data[room:]
        if ends:
            self.h2.end_stream(stream)
        self.flush()

    def answer(self, stream):
        """Status, and the body as JSON or text."""
        status, headers = self.status(stream)
        body = self.body(stream)[0] if status else b""
        is_json = "json" in headers.get("content-type", "")
        return status, json.loads(body) if is_json else body.decode(errors="replace")

    def post(self, path, body, *fields):
        data = json.dumps(body).encode()
        stream = self.request(get("POST", path, ("content-type", "application/json"), *fields))
        self.send(stream, data, ends=True)
        return self.answer(stream)

    def login(self, email, password):
        status, user = self.post("/api/auth/login", {"email": email, "password": password})
        assert status == 200, user
        return user

    def body(self, stream):
        """Everything until the stream ends, and how it ended."""
        data = b""
        while True:
            event = self.next(stream, (h2.events.DataReceived, h2.events.StreamEnded, h2.events.StreamReset))
            if isinstance(event, h2.events.DataReceived):
                data += event.data
            else:
                return data, "end" if isinstance(event, h2.events.StreamEnded) else "reset %d" % event.error_code


def connect(path, *extra):
    return [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", path),
            (":authority", "localhost:%d" % PORT), ("sec-websocket-version", "13")] + list(extra)


def get(method, path, *extra):
    return [(":method", method), (":scheme", "https"), (":path", path),
            (":authority", "localhost:%d" % PORT)] + list(extra)


def frame(payload, opcode=1):
    key = os.urandom(4)
    masked = bytes(byte ^ key[index % 4] for index, byte in enumerate(payload))
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else struct.pack(">BH", 0xFE, len(payload))
    return bytes([0x80 | opcode]) + length + key + masked


class Frames:
    def __init__(self, connection, stream):
        self.connection, self.stream, self.data = connection, stream, b""

    def take(self, count):
        while len(self.data) < count:
            event = self.connection.next(
                self.stream, (h2.events.DataReceived, h2.events.StreamEnded, h2.events.StreamReset))
            if not isinstance(event, h2.events.DataReceived):
                raise EOFError(type(event).__name__)
            self.data += event.data
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def next(self):
        first, second = self.take(2)
        length = second & 0x7F
        if length == 126:
            length, = struct.unpack(">H", self.take(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.take(8))
        return first & 0x0F, self.take(length)

    def close(self):
        """The code and reason of the Close that comes next, and how the stream ended behind it."""
        opcode, payload = self.next()
        event = self.connection.next(self.stream, (h2.events.StreamEnded, h2.events.StreamReset))
        return [opcode, struct.unpack(">H", payload[:2])[0], payload[2:].decode(), type(event).__name__]
