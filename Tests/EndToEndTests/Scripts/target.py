"""A target for `gatehouse attack` that behaves as it is told: `target.py MODE`. It prints its port."""

import os
import signal
import socket
import ssl
import sys
import threading
import time

GOOD = b"the-good-token"
SWITCH = b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
mode = sys.argv[1]
count = 0


def answer(status, body=b"", fields=b""):
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n" % (status, len(body), fields) + body


def is_good(head):
    if mode == "cookie":
        return b"Cookie: gate=" + GOOD + b"\r\n" in head
    if mode == "query":
        return b"?jwt=" + GOOD + b" " in head
    if mode == "body":
        return head.startswith(b"POST ") and head.endswith(b"\r\n\r\njwt=" + GOOD)
    if mode == "subprotocol":
        return b"bearer." + GOOD + b"\r\n" in head
    if mode == "any-subprotocol":
        return b"bearer." in head
    if mode == "own-field":
        return b"X-Token: " + GOOD + b"\r\n" in head
    return b"Bearer " + GOOD + b"\r\n" in head


def respond(connection, head):
    global count
    count += 1
    good = is_good(head)
    if head.startswith((b"TRACE ", b"CONNECT ")):
        return connection.sendall(answer(405))
    if mode == "lets-everything-in":
        return connection.sendall(answer(200))
    if mode == "accepts-any-token" and b"Authorization" in head:
        return connection.sendall(answer(200, b"ok"))
    if good and mode.endswith("subprotocol"):
        return connection.sendall(SWITCH)
    if good and mode == "socket-flood" and b"Upgrade: websocket" in head:
        connection.sendall(SWITCH)
        try:
            for _ in range(1 << 14):
                connection.sendall(b"\x81\x02ok" * 16384)
        except OSError:
            return None
        return None
    if good and mode == "endless-answers":
        connection.sendall(b"HTTP/1.1 200 X\r\n\r\n")
        while True:
            connection.sendall(b".")
            time.sleep(0.1)
    if good:
        return connection.sendall(answer(200, b"what is protected"))
    if mode == "dies" and count > 5:
        os._exit(0)
    if mode == "garbage":
        return connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
    if mode == "http-0.9":
        return connection.sendall(b"<html>hello</html>\n")
    if mode == "silence":
        # Requests without a token are answered, so that the run begins.
        return time.sleep(30) if b"Authorization" in head else connection.sendall(answer(401))
    if mode in ("closes", "tls-closes"):
        return None
    if mode == "drips":
        for letter in b"HTTP/1.1 401 ":
            connection.sendall(bytes([letter]))
            time.sleep(1)
        return None
    if mode == "interim-flood":
        return connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 20 + answer(401))
    if mode == "two-answers":
        return connection.sendall(answer(401) + answer(200, b"what is protected"))
    if mode == "endless-line":
        try:
            for _ in range(1 << 14):
                connection.sendall(b"HTTP/1.1 " + b"4" * 65536)
        except OSError:
            return None
        return None
    if mode == "endless-header":
        try:
            connection.sendall(b"HTTP/1.1 401 X\r\n")
            for _ in range(1 << 14):
                connection.sendall(b"X-Flood: " + b"f" * 65536)
        except OSError:
            return None
        return None
    if mode == "endless-body":
        try:
            connection.sendall(b"HTTP/1.1 401 X\r\n\r\n")
            for _ in range(1 << 14):
                connection.sendall(b"f" * 65536)
        except OSError:
            return None
        return None
    if mode == "redirects":
        return connection.sendall(answer(302, fields=b"Location: http://192.0.2.1/\r\n"))
    if mode == "forbids":
        return connection.sendall(answer((403, 404, 400, 500, 302)[count % 5]))
    return connection.sendall(answer(401))


def serve(connection):
    try:
        connection.settimeout(40)
        if mode == "mute":
            return time.sleep(30)
        head = b""
        while b"\r\n\r\n" not in head:
            part = connection.recv(65536)
            if not part:
                return
            head += part
        length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        body = int(length[0].partition(b":")[2]) if length else 0
        while len(head.partition(b"\r\n\r\n")[2]) < body:
            part = connection.recv(65536)
            if not part:
                return
            head += part
        respond(connection, head)
    except OSError:
        pass
    finally:
        connection.close()


def main():
    # The test process may have blocked the signal that is to end it; and no test takes longer than this.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    threading.Timer(300, os._exit, (0,)).start()
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    if mode in ("tls", "tls-closes", "client-certificate"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        if mode == "client-certificate":
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(sys.argv[2])
        context.set_alpn_protocols(["http/1.1"])
        listener = context.wrap_socket(listener, server_side=True, do_handshake_on_connect=False)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main()
