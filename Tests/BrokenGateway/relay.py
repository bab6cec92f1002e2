"""WebSockets that the broken gateway passes on to its upstream."""

import re
import socket
import threading
import urllib.parse

from answers import Answer, accept_key
from sockets import check_handshake


def serve(gateway, request, connection, reader):
    try:
        check_handshake(gateway, request)
        caller = gateway.claims(token(gateway, request).encode("latin-1"))
    except Answer as answer:
        answer.closes = True
        raise answer
    upstream = socket.create_connection(("127.0.0.1", gateway.upstream), timeout=10)
    try:
        upstream.sendall(head(gateway, request, caller))
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = upstream.recv(65536)
            if not part:
                raise Answer(502, closes=True)
            answer += part
        is_switch = answer.split(b" ")[1] == b"101"
        if is_switch and fault(request, answer) and not gateway.has("any-switch"):
            raise Answer(502, closes=True)
        connection.sendall(answer)
        if is_switch or gateway.has("tunnels-refusals"):
            join(connection, reader, upstream)
    finally:
        upstream.close()


def token(gateway, request):
    found = [value for name, value in request.query if name == "access_token"]
    found += [value.partition(" ")[2] for value in request.all("authorization")]
    found += re.findall(r"gate=([^;]*)", "; ".join(request.all("cookie")))
    found += [offer.removeprefix("bearer.") for offer in offers(request) if offer.startswith("bearer.")]
    if len(found) != 1:
        raise Answer(400 if found else 401)
    return found[0]


def offers(request):
    return [offer.strip() for offer in ", ".join(request.all("sec-websocket-protocol")).split(",") if offer.strip()]


def head(gateway, request, caller):
    """The handshake as the upstream gets it."""
    listed = {name.strip().lower() for name in (request.one("connection") or "").split(",")}
    leaks = gateway.has("leaks-in-handshakes")
    fields = []
    for name, value in request.fields:
        low = name.lower()
        if low in ("connection", "upgrade") or low in listed and not gateway.has("relays-listed"):
            continue
        if low == "sec-websocket-protocol" and not leaks:
            value = ", ".join(offer for offer in offers(request) if not offer.startswith(("bearer.", "session.")))
        if value and (gateway.is_kept(name) or leaks and low in ("authorization", "cookie")):
            fields.append((name, value))
    fields += gateway.identity(caller)
    if gateway.has("connection-last"):
        fields = [(name, value) for name, value in fields if name.lower() not in listed]
    fields += [("Connection", "Upgrade"), ("Upgrade", "websocket")]
    query = [pair for pair in request.query if leaks or pair[0] not in ("access_token", "session_id")]
    lines = [f"GET {request.path}?{urllib.parse.urlencode(query)} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def fault(request, answer):
    """Whether a 101 is not the one that was asked for."""
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    protocol = fields.get("sec-websocket-protocol")
    return (fields.get("upgrade") != "websocket" or fields.get("connection", "").lower() != "upgrade"
            or fields.get("sec-websocket-accept") != accept_key(request.one("sec-websocket-key") or "")
            or protocol is not None and protocol not in offers(request) or "sec-websocket-extensions" in fields)


def join(connection, reader, upstream):
    """Passes bytes on in both directions until one side ends."""
    connection.settimeout(30)
    upstream.settimeout(30)

    def back():
        try:
            while part := upstream.recv(65536):
                connection.sendall(part)
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    threading.Thread(target=back, daemon=True).start()
    while part := reader.read1(65536):
        upstream.sendall(part)
    upstream.shutdown(socket.SHUT_RDWR)
