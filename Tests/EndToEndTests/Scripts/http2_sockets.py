"""WebSockets and streams over HTTP/2 (RFC 8441), told by an independent implementation.

Usage: http2_sockets.py PORT TOKEN SESSION [STREAM_PATH]. Prints one JSON object: what each check saw.
"""

import json
import os
import struct
import sys

import h2.events

from http2_client import Connection, Frames, connect, frame, get

TOKEN, SESSION = sys.argv[2], sys.argv[3]


def refusals(connection, found):
    query = "access_token=%s&session_id=%s" % (TOKEN, SESSION)
    cases = {
        "none": connect("/api/runtime/agent"),
        "foreign": connect("/api/runtime/agent?access_token=%s&session_id=ses_AAAAAAAAAAAAAAAAAAAAAA" % TOKEN),
        "origin": connect("/api/runtime/agent?" + query, ("origin", "https://evil.example")),
        "version": [f for f in connect("/api/runtime/agent?" + query) if f[0] != "sec-websocket-version"]
        + [("sec-websocket-version", "8")],
        "other_protocol": [(n, "webtransport" if n == ":protocol" else v) for n, v in connect("/api/runtime/agent")],
        "no_version": [field for field in connect("/api/runtime/agent?" + query) if field[0] != "sec-websocket-version"],
        "plain_get": get("GET", "/api/runtime/agent"),
        "connection_field": connect("/api/runtime/agent?" + query, ("connection", "upgrade")),
    }
    for name, fields in cases.items():
        stream = connection.request(fields, ends=name == "plain_get")
        status, headers = connection.status(stream)
        body = connection.body(stream)[0] if status else b""
        code = json.loads(body).get("code") if body else None
        found[name] = [status, code, "connection" in headers]


def echo(connection, found):
    offer = ("sec-websocket-protocol", "gatehouse.v1, bearer.%s, session.%s" % (TOKEN, SESSION))
    stream = connection.request(connect("/api/runtime/echo", offer))
    status, headers = connection.status(stream)
    found["echo_status"] = [status, headers.get("sec-websocket-protocol"), headers.get("sec-websocket-accept")]
    frames = Frames(connection, stream)
    connection.send(stream, frame(b"over http/2"))
    found["echo"] = frames.next()[1].decode()
    blob = os.urandom(60000)
    connection.send(stream, frame(blob, 2))
    found["echo_large"] = frames.next() == (2, blob)
    connection.send(stream, frame(struct.pack(">H", 1000), 8))
    found["echo_close"] = frames.close()


def main():
    found = {}
    connection = Connection()
    refusals(connection, found)
    echo(connection, found)

    query = "access_token=%s&session_id=%s" % (TOKEN, SESSION)
    stream = connection.request(connect("/api/runtime/agent?" + query))
    found["agent_status"] = connection.status(stream)[0]
    agent = Frames(connection, stream)
    found["ready"] = json.loads(agent.next()[1])["type"]
    connection.send(stream, frame(b'{"type":"intent","id":"h2","intent":"echo","params":{"over":2}}'))
    found["event"] = json.loads(agent.next()[1])["data"]

    # Its own END_STREAM is how a client of a tunnel leaves.
    leaving = connection.request(connect("/api/runtime/echo?" + query))
    connection.status(leaving)
    connection.send(leaving, b"", ends=True)
    event = connection.next(leaving, (h2.events.StreamEnded, h2.events.StreamReset))
    found["leaving"] = type(event).__name__

    bearer = ("authorization", "Bearer " + TOKEN)
    events = None
    if len(sys.argv) > 4:
        events = connection.request(get("GET", sys.argv[4], bearer), ends=True)
        found["stream_status"] = connection.status(events)[0]
        connection.next(events, h2.events.DataReceived)

    logout = connection.request(get("POST", "/api/auth/logout", bearer, ("content-length", "0")), ends=True)
    found["logout"] = connection.status(logout)[0]
    found["agent_close"] = agent.close()
    if events:
        found["stream_end"] = connection.body(events)[1]
    print(json.dumps(found))


main()
