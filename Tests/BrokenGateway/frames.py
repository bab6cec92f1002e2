"""HTTP/2 for the broken gateway: one request a connection, as `gatehouse attack` sends it, made into one of HTTP/1.1."""

import re
import urllib.parse

from answers import Answer

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
OF_CONNECTIONS = ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade")


class Malformed(Exception):
    """A request that ends its stream (RFC 9113 section 8.1.1)."""


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def string(text):
    """A string of HPACK that is not compressed, of at most 16 KiB."""
    data = text.encode("latin-1")
    length = len(data)
    if length < 127:
        return bytes([length]) + data
    return bytes([127, (length - 127) & 127 | 128, (length - 127) >> 7]) + data


def read_string(data, at):
    length, at = data[at], at + 1
    if length & 128:
        raise Malformed
    if length == 127:
        shift = 0
        while True:
            digit, at = data[at], at + 1
            length += (digit & 127) << shift
            shift += 7
            if not digit & 128:
                break
    return data[at:at + length].decode("latin-1"), at + length


def read_fields(block):
    """The fields of a block of literals without indexing, the only form that is read."""
    fields, at = [], 0
    while at < len(block):
        if block[at]:
            raise Malformed
        name, at = read_string(block, at + 1)
        value, at = read_string(block, at)
        fields.append((name, value))
    return fields


def read_message(reader):
    """The fields, the body and the trailers of the one stream."""
    blocks, body, ends = [], b"", False
    while True:
        head = reader.read(9)
        if len(head) < 9:
            raise EOFError
        kind, flags = head[3], head[4]
        payload = reader.read(int.from_bytes(head[:3], "big"))
        if kind in (0, 1):
            ends = bool(flags & 1)
        if kind == 1:
            blocks.append(b"")
        if kind in (1, 9):
            blocks[-1] += payload
        if kind == 0:
            body += payload
        if ends and (kind == 0 or kind in (1, 9) and flags & 4):
            return read_fields(blocks[0]), body, read_fields(b"".join(blocks[1:]))


class StreamRequest:
    """The request of a stream, with the fields of `Request`."""

    version = "HTTP/2"

    def __init__(self, fields, body, trailers, gateway):
        self.gateway = gateway
        if gateway.has("h2-trailers"):
            fields = fields + trailers
        pseudo = {}
        self.fields = []
        for name, value in fields:
            self.check_line(name, value)
            if name.startswith(":"):
                if name in pseudo and not gateway.has("h2-last-path"):
                    raise Malformed
                pseudo[name] = value
            else:
                self.fields.append((name, value))
        if set(pseudo) != {":method", ":scheme", ":path", ":authority"}:
            raise Malformed
        self.method, self.target, authority = (pseudo[name] for name in (":method", ":path", ":authority"))
        self.path, _, self.query_text = self.target.partition("?")
        self.query = urllib.parse.parse_qsl(self.query_text, keep_blank_values=True, encoding="latin-1")
        self.body = self.raw_body = body
        self.check_fields(authority)

    def check_line(self, name, value):
        """No name and no value may hold what would be another line in HTTP/1.1."""
        is_pseudo = name.startswith(":")
        if re.search(r"[\r\n\0]", value) and not self.gateway.has("h2-lines-in-pseudo" if is_pseudo else "h2-lines"):
            raise Malformed
        if is_pseudo or NAME.fullmatch(name):
            return
        if self.gateway.has("h2-lines") and "\n" in name:
            return
        if self.gateway.has("h2-colons") and ":" in name and "\n" not in name:
            return
        if not (self.gateway.has("h2-coding") and NAME.fullmatch(name.lower())):
            raise Malformed

    def check_fields(self, authority):
        for name, value in self.fields:
            if name == "connection" and self.gateway.has("h2-connection"):
                continue
            if name.lower() == "transfer-encoding" and self.gateway.has("h2-coding"):
                continue
            if name in OF_CONNECTIONS:
                raise Malformed
            if name == "content-length" and value != str(len(self.body)) and not self.gateway.has("h2-length"):
                raise Malformed
        hosts = [value for name, value in self.fields if name == "host"]
        if any(host != authority for host in hosts) and not self.gateway.has("h2-host"):
            raise Malformed
        self.fields = [("Host", (hosts or [authority])[0])] + [item for item in self.fields if item[0] != "host"]

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name]


def serve(gateway, request_type, connection, reader):
    """Answers the one request of a connection."""
    reader.read(len(PREFACE))
    connection.sendall(frame(4, 0, 0))
    try:
        request = request_type(*read_message(reader), gateway)
        gateway.dispatch(request, connection, reader)
    except (Malformed, IndexError):
        connection.sendall(frame(3, 0, 1, (1).to_bytes(4, "big")))
    except Answer as answer:
        head, _, body = answer.bytes().partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode("latin-1").split("\r\n")[1:]]
        fields = [(":status", str(answer.status))]
        fields += [(name.lower(), value) for name, _, value in lines if name.lower() != "connection"]
        block = b"".join(b"\0" + string(name) + string(value) for name, value in fields)
        connection.sendall(frame(1, 4, 1, block) + frame(0, 1, 1, body))
