"""One HTTP/2 connection to the gateway, as an independent implementation makes it."""

import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.settings


class Connection:
    def __init__(self, port):
        self.port = port
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", port), 10)
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        config = h2.config.H2Configuration(
            client_side=True, validate_outbound_headers=False, normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config=config)
        self.h2.initiate_connection()
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
        self.h2.send_data(stream, data, end_stream=ends)
        self.flush()

    def body(self, stream):
        """Everything until the stream ends, and how it ended."""
        data = b""
        while True:
            event = self.next(stream, (h2.events.DataReceived, h2.events.StreamEnded, h2.events.StreamReset))
            if isinstance(event, h2.events.DataReceived):
                data += event.data
            else:
                return data, "end" if isinstance(event, h2.events.StreamEnded) else "reset %d" % event.error_code

    def get(self, method, path, *extra):
        return [(":method", method), (":scheme", "https"), (":path", path),
                (":authority", "localhost:%d" % self.port)] + list(extra)
