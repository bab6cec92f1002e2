"""An https upstream that tells who it was asked for and by whom.

Usage: tls_upstream.py CERTIFICATE KEY [CLIENT_CA]. Prints its port, then serves until it is killed.
"""

import json
import socket
import ssl
import sys

asked = []


def remember(connection, name, context):
    asked.append(name)


def names(certificate):
    return dict(pair for group in (certificate or {}).get("subject", ()) for pair in group)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
context.sni_callback = remember
if len(sys.argv) > 3:
    context.load_verify_locations(sys.argv[3])
    context.verify_mode = ssl.CERT_REQUIRED

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    plain, _ = listener.accept()
    plain.settimeout(60)
    try:
        with context.wrap_socket(plain, server_side=True) as connection:
            data = b""
            while b"\r\n\r\n" not in data:
                part = connection.recv(65536)
                if not part:
                    raise EOFError
                data += part
            told = {"asked": asked[-1], "client": names(connection.getpeercert()).get("commonName")}
            body = json.dumps(told).encode()
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    except (OSError, EOFError):
        plain.close()
