"""Whether bodies and field values arrive over HTTP/2 as they were sent.

Usage: http2_bodies.py PORT
           sends bodies to /session with sessions that the gateway has to ask its store about, and field values that are
           no UTF-8; prints one JSON object.
"""

import json

from http2_client import Connection, get


def fresh_session(connection):
    status, session = connection.post("/api/session/create-anonymous", {})
    assert status == 200, session
    return ("session-secret", session["session_secret"])


def main():
    found = {}
    connection = Connection()
    for name, parts, length in [
        ("whole", [b"0123456789"], True), ("cut", [b"01234", b"56789"], True), ("chunked", [b"01234", b"56789"], False),
    ]:
        fields = [("content-length", "10")] if length else []
        secret = fresh_session(connection)
        stream = connection.h2.get_next_available_stream_id()
        connection.h2.send_headers(stream, get("POST", "/session/" + name, secret, *fields))
        # The first part leaves with the head.
        for index, part in enumerate(parts):
            connection.send(stream, part, ends=index == len(parts) - 1)
        found[name] = connection.answer(stream)[0]
    stream = connection.request(get("GET", "/open/caf", ("x-name", b"caf\xe9")), ends=True)
    found["latin1"] = connection.answer(stream)
    stream = connection.request(get("GET", "/open/caf", ("x-name", "caf\u00e9".encode())), ends=True)
    found["utf8"] = connection.answer(stream)[0]
    for name in ["answer-latin1", "answer-utf8"]:
        stream = connection.request(get("GET", "/open/" + name), ends=True)
        status, headers = connection.status(stream)
        found[name] = [status, headers.get("x-name")]
    print(json.dumps(found))


main()
