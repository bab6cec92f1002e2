"""What becomes of HTTP/2 streams, told by an independent implementation.

Usage: http2_streams.py PORT heads
           tells as one JSON object what became of heads that are too large or malformed.
       http2_streams.py PORT problems
           tells how malformed heads were answered.
       http2_streams.py PORT broken
           tells what became of connections whose peer broke the protocol.
       http2_streams.py PORT upload BYTES
           uploads to /upload as fast as it is let, prints how many bytes were sent when the gateway made no more room,
           and then what was answered.
"""

import json
import struct
import sys
import time

import h2.events

from http2_client import Connection, connect, get


def ending(connection, stream):
    """How the stream ended, and after how many seconds."""
    start = time.monotonic()
    event = connection.next(stream, (h2.events.StreamReset,))
    return [int(event.error_code), time.monotonic() - start]


def large(connection, found):
    """Heads beyond the limit, and behind each one a request that is none of them."""
    cases = {
        "long": [("x-pad-%d" % number, "v" * 8000) for number in range(5)],
        "one": [("x-pad", "v" * 40000)],
        "many": [("x-%d" % number, "v") for number in range(150)],
    }
    for name, fields in cases.items():
        stream = connection.request(get("GET", "/", *fields), ends=True)
        status, headers = connection.status(stream)
        code = json.loads(connection.body(stream)[0])["code"] if status else None
        after = connection.request(get("GET", "/"), ends=True)
        found[name] = [status, code, connection.status(after)[0]]
    # A client that announces a body is told as well, and need not send it.
    stream = connection.request(get("POST", "/", *cases["long"]))
    status = connection.status(stream)[0]
    found["with_body"] = [status] + ending(connection, stream)


def far_too_large(found):
    connection = Connection()
    try:
        connection.request(get("GET", "/", *[("x-%d" % number, "~" * 8000) for number in range(60)]), ends=True)
        while not connection.is_terminated:
            connection.pump()
        found["far_too_large"] = "goaway"
    except (EOFError, OSError):  # the latter when it is closed while this side still writes
        found["far_too_large"] = "closed"


def early(found):
    """Long heads that come with the preface, each with a request behind it."""
    for length in (100, 17000, 30000, 34000, 60000):
        connection = Connection(first=get("GET", "/", ("x-pad", "~" * length)))
        first = connection.status(connection.first)[0]
        after = connection.request(get("GET", "/"), ends=True)
        found["early_%d" % length] = [first, connection.status(after)[0]]


def problem(connection, stream):
    """What a refusal says: status, type, code, and whether body and field name the same request."""
    status, headers = connection.status(stream)
    body = connection.body(stream)[0] if status else b""
    told = json.loads(body) if body else {}
    asked = headers.get("x-request-id")
    is_same = asked is not None and asked == told.get("request_id")
    return [str(status), headers.get("content-type"), told.get("code"), "same id" if is_same else "other ids"]


def changed(name, value, method="POST"):
    return [(n, value if n == name else v) for n, v in get(method, "/refused")]


def malformed(connection, found):
    cases = {
        "path": changed(":path", "refused"),
        "scheme": changed(":scheme", "ftp"),
        "authority": changed(":authority", "a b"),
        "method": changed(":method", "CONNECT"),
        "host": changed(":path", "/refused") + [("host", "other.example")],
        "doubled": [(":path", "/other")] + get("POST", "/refused"),
        "unknown": [(":foo", "x")] + get("POST", "/refused"),
        "missing": [field for field in get("POST", "/refused") if field[0] != ":path"],
        "late": get("POST", "/refused")[:-1] + [("x-a", "b"), (":authority", "localhost")],
    }
    for name, fields in cases.items():
        stream = connection.h2.get_next_available_stream_id()
        connection.h2.send_headers(stream, fields)
        # What follows on the stream must not be taken for a request of its own.
        connection.h2.send_data(stream, b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
        connection.flush()
        if name in ("path", "scheme", "host"):
            found["refused_" + name] = problem(connection, stream)
        found["malformed_" + name] = ending(connection, stream)
        after = connection.request(get("GET", "/"), ends=True)
        found["after_" + name] = connection.status(after)[0]


def problems(found):
    connection = Connection()
    cases = {
        "no_authority": get("GET", "/refused")[:-1],
        "empty_authority": changed(":authority", "", "GET"),
        "host": get("GET", "/refused", ("host", "other.example")),
        "path": changed(":path", "refused", "GET"),
        "scheme": changed(":scheme", "ftp", "GET"),
        "protocol": [(n, "x" if n == ":protocol" else v) for n, v in connect("/refused")],
    }
    for name, fields in cases.items():
        found[name] = problem(connection, connection.request(fields, ends=name != "protocol"))
    stream = connection.request(changed(":scheme", "ftp", "HEAD"), ends=True)
    found["head"] = [connection.status(stream)[0], len(connection.body(stream)[0])]
    stream = connection.request(get("OPTIONS", "*"), ends=True)
    status, headers = connection.status(stream)
    code = json.loads(connection.body(stream)[0] or "{}").get("code")
    found["options"] = [str(status), code, "Allow" if "GET" in headers.get("allow", "") else "no Allow"]
    found["after"] = connection.status(connection.request(get("GET", "/"), ends=True))[0]
    for name in ("expect", "host", "content-length", "trailer", "x-checksum"):
        stream = connection.request(get("POST", "/"))
        connection.send(stream, b"hello")
        connection.h2.send_headers(stream, [(name, "5")], end_stream=True)
        connection.flush()
        found["trailer_" + name] = connection.status(stream)[0]


def raw_frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def late_headers(found, head):
    """HEADERS on a stream that this client has ended, before and behind its answer, and on one that it passed over."""
    connection = Connection()
    stream = connection.request(get("GET", "/slow"), ends=True)
    connection.socket.sendall(raw_frame(1, 5, stream, head))
    found["late_headers"] = goaway_error(connection)
    connection = Connection()
    answered = connection.request(get("GET", "/"), ends=True)
    found["before_late_headers"] = connection.status(answered)[0]
    connection.body(answered)
    # Trailers are not late, and what is wrong with these is something else.
    stream = connection.request(get("POST", "/slow"))
    connection.socket.sendall(raw_frame(1, 5, stream, head))
    found["bad_trailers"] = int(connection.next(stream, (h2.events.StreamReset,)).error_code)
    connection.socket.sendall(raw_frame(1, 5, answered, head))
    found["late_headers_closed"] = goaway_error(connection)
    connection = Connection()
    connection.socket.sendall(raw_frame(1, 5, 5, head) + raw_frame(1, 5, 3, head))
    found["passed_over"] = goaway_error(connection)


def goaway_error(connection):
    """The error that the gateway ends the connection with."""
    data = b""
    while True:
        part = connection.socket.recv(65536)
        if not part:
            return None
        data += part
        while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
            length = int.from_bytes(data[:3], "big")
            if data[3] == 7:
                return struct.unpack(">I", data[13:17])[0]
            data = data[9 + length:]


def broken(found):
    head = b"\x82\x87\x84\x41\x09localhost"
    faults = {
        "even_stream": raw_frame(1, 5, 2, head),
        "data_on_zero": raw_frame(0, 0, 0, b"a"),
        "rst_on_idle": raw_frame(3, 0, 9, bytes(4)),
        "ping_of_nine": raw_frame(6, 0, 0, bytes(9)),
        "unreadable_fields": raw_frame(1, 5, 1, b"\xff\xff\xff\xff\xff\xff\xff"),
    }
    for name, frame in faults.items():
        connection = Connection()
        connection.socket.sendall(frame)
        end = "closed"
        try:
            while True:
                connection.pump()
        except TimeoutError:
            end = "open"
        except (EOFError, ConnectionError, OSError):
            pass
        found[name] = ["goaway" if connection.is_terminated else "no goaway", end]
    late_headers(found, head)
    # Trailers that are none: a fault of their stream.
    connection = Connection()
    stream = connection.request(changed(":path", "/", "POST"))
    connection.socket.sendall(raw_frame(1, 5, stream, head))
    connection.next(stream, (h2.events.StreamReset,))
    found["one_stream"] = connection.status(connection.request(get("GET", "/"), ends=True))[0]


def upload(total):
    connection = Connection()
    stream = connection.request(get("POST", "/upload", ("content-length", str(total))))
    block = b"a" * 16384
    sent = 0
    stalled = None
    connection.socket.settimeout(2)
    while sent < total:
        room = min(connection.h2.local_flow_control_window(stream), len(block), total - sent)
        if room > 0:
            sent += room
            connection.h2.send_data(stream, block[:room], end_stream=sent == total)
            connection.flush()
            continue
        try:
            connection.pump()
        except TimeoutError:
            stalled = sent
            print(stalled, flush=True)
            connection.socket.settimeout(60)
    if stalled is None:
        print(sent, flush=True)
        connection.socket.settimeout(60)
    status = connection.status(stream)[0]
    print(json.dumps([status, connection.body(stream)[0].decode()]), flush=True)


if sys.argv[2] == "heads":
    found = {}
    connection = Connection()
    large(connection, found)
    malformed(connection, found)
    far_too_large(found)
    early(found)
    connection = Connection()
    found["at_last"] = connection.status(connection.request(get("GET", "/"), ends=True))[0]
    print(json.dumps(found))
elif sys.argv[2] in ("problems", "broken"):
    found = {}
    {"problems": problems, "broken": broken}[sys.argv[2]](found)
    print(json.dumps(found))
else:
    upload(int(sys.argv[3]))
