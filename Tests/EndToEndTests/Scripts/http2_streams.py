"""What becomes of HTTP/2 streams, told by an independent implementation.

Usage: http2_streams.py PORT heads
           tells as one JSON object what became of heads that are too large or malformed.
       http2_streams.py PORT upload BYTES
           uploads to /upload as fast as it is let, prints how many bytes were sent when the gateway made no more room,
           and then what was answered.
"""

import json
import sys
import time

import h2.events

from http2_client import Connection, get


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
    # Whoever announces a body is told as well, and need not send it.
    stream = connection.request(get("POST", "/", *cases["long"]))
    status = connection.status(stream)[0]
    found["with_body"] = [status] + ending(connection, stream)


def far_too_large(found):
    connection = Connection()
    connection.request(get("GET", "/", *[("x-%d" % number, "~" * 8000) for number in range(60)]), ends=True)
    try:
        while not connection.is_terminated:
            connection.pump()
        found["far_too_large"] = "goodbye"
    except EOFError:
        found["far_too_large"] = "closed"


def malformed(connection, found):
    def changed(name, value):
        return [(n, value if n == name else v) for n, v in get("POST", "/refused")]

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
        found["malformed_" + name] = ending(connection, stream)
        after = connection.request(get("GET", "/"), ends=True)
        found["after_" + name] = connection.status(after)[0]


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
    connection = Connection()
    found["at_last"] = connection.status(connection.request(get("GET", "/"), ends=True))[0]
    print(json.dumps(found))
else:
    upload(int(sys.argv[3]))
