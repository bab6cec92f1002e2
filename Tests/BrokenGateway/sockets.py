"""The WebSocket path of the broken gateway."""

import base64
import binascii
import threading
import time

from answers import Answer, accept_key


def serve_socket(gateway, request, connection, reader):
    try:
        check_handshake(gateway, request)
        session, token = admit(gateway, request)
    except Answer as answer:
        # A refusal of a handshake ends the connection; what came behind it is dropped.
        answer.closes = not gateway.has("refusal-keeps-connection")
        raise answer
    key = request.one("sec-websocket-key") or ""
    # Known before the client learns of it, so that nothing which it does next misses the socket.
    entry = (session, connection)
    gateway.sessions.sockets.append(entry)
    offers = [offer.strip() for offer in (request.one("sec-websocket-protocol") or "").split(",")]
    chosen = [offer for offer in offers if offer and offer.startswith("bearer.") == gateway.has("echoes-token")][:1]
    protocol = "".join(f"Sec-WebSocket-Protocol: {offer}\r\n" for offer in chosen)
    connection.sendall(
        f"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{protocol}"
        f"Sec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode("latin-1"))
    connection.settimeout(120)
    if gateway.has("short-tokens") and not gateway.has("socket-outlives-token"):
        threading.Timer(gateway.sessions.lifetime, lambda: gateway.sessions.close_sockets(session)).start()
    try:
        message = [False]
        while is_frame(gateway, reader, message):
            pass
        connection.sendall(b"\x88\x02\x03\xea")
    finally:
        gateway.sessions.sockets.remove(entry)


def is_frame(gateway, reader, message):
    """Whether a right frame came. `message` says whether a message has begun, of which more fragments are to come."""
    head = reader.read(2)
    if len(head) < 2:
        return False
    opcode, is_final, length = head[0] & 15, head[0] & 128, head[1] & 127
    if length > 125:
        length = int.from_bytes(reader.read(2 if length == 126 else 8), "big")
    if gateway.has("any-frame"):
        reader.read(4 if head[1] & 128 else 0)
        reader.read(min(length, 1000))
        time.sleep(0.01)
        return True
    if not head[1] & 128 or head[0] & 0x70 or opcode not in (0, 1, 2, 8, 9, 10) or length > 65536:
        return False
    if opcode < 8:
        if (opcode == 0) != message[0]:
            return False
        message[0] = not is_final
    if opcode >= 8 and (length > 125 or not is_final):
        return False
    mask = reader.read(4)
    payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(reader.read(length)))
    if opcode == 1 and is_final:
        try:
            payload.decode()
        except UnicodeDecodeError:
            return False
    return opcode != 8


def check_handshake(gateway, request):
    names = [name.strip().lower() for name in (request.one("connection") or "").split(",")]
    if request.method != "GET" and not gateway.has("any-method"):
        raise Answer(405)
    if request.version != "HTTP/1.1" and not gateway.has("any-method"):
        raise Answer(400)
    if ("upgrade" not in names or request.one("upgrade") != "websocket") and not gateway.has("any-upgrade"):
        raise Answer(400)
    if request.all("sec-websocket-version") != ["13"] and not gateway.has("any-version"):
        raise Answer(426)
    if request.body and not gateway.has("handshake-with-body"):
        raise Answer(400)
    keys = request.all("sec-websocket-key")
    try:
        good = len(keys) == 1 and len(base64.b64decode(keys[0], validate=True)) == 16
    except binascii.Error:
        good = False
    if not good and not gateway.has("any-key"):
        raise Answer(400)
    check_origin(gateway, request)


def check_origin(gateway, request):
    origins = request.all("origin")
    own = gateway.origin
    if gateway.has("any-origin") or not origins:
        return
    if gateway.has("first-origin"):
        origins = origins[:1]
    if gateway.has("null-origin") and origins == ["null"]:
        return
    if gateway.has("origin-prefix") and all(origin.startswith(own) for origin in origins):
        return
    if gateway.has("origin-host") and all(own.partition("//")[2] == one.partition("//")[2] for one in origins):
        return
    if origins != [own]:
        raise Answer(403)


def admit(gateway, request):
    """The session that is opened."""
    tickets = [value for name, value in request.query if name == "ticket"]
    named = [value for name, value in request.query if name == "session_id"]
    if tickets and named and not gateway.has("ticket-beside-session"):
        raise Answer(400)
    if tickets:
        return by_ticket(gateway, request, tickets[0]), None
    carriers = []
    for name, value in request.query:
        if name == "access_token":
            carriers.append(("query", value))
    for value in request.all("authorization"):
        carriers.append(("header", value.partition(" ")[2]))
    for cookie in "; ".join(request.all("cookie")).split("; "):
        if cookie.startswith("gate="):
            carriers.append(("cookie", cookie.removeprefix("gate=")))
    offers = [offer.strip() for offer in (request.one("sec-websocket-protocol") or "").split(",")]
    carriers += [("subprotocol", offer[7:]) for offer in offers if offer.startswith("bearer.")]
    sessions = [value for name, value in request.query if name == "session_id"] + request.all("session-id")
    sessions += [offer[8:] for offer in offers if offer.startswith("session.")]
    if not any(token for _, token in carriers) and gateway.has("socket-without-token"):
        return None, None
    if not carriers:
        raise Answer(401)
    if len(carriers) > 1 and not gateway.has("first-of-two-tokens"):
        raise Answer(400)
    carrier, token = carriers[0]
    if gateway.has("trims-tokens"):
        token = token.strip("\0\r\n ")
    if len(sessions) > 1 and not gateway.has("first-of-two-sessions"):
        raise Answer(400)
    unchecked = gateway.has(f"unchecked-{carrier}")
    user = "usr_one" if unchecked else gateway.claims(token.encode("latin-1"))["sub"]
    session = gateway.sessions.sessions.get((sessions or [""])[0])
    if gateway.has("any-session") or unchecked:
        return session, token
    if session is None or session.user != user or session.ended:
        raise Answer(403)
    return session, token


def by_ticket(gateway, request, ticket):
    if gateway.has("any-ticket"):
        return None
    entry = gateway.sessions.tickets.get(ticket)
    if not gateway.has("tickets-again"):
        gateway.sessions.tickets.pop(ticket, None)
    if entry is None or entry[0].ended:
        raise Answer(401)
    if entry[1] is not None and entry[1] != request.one("origin") and not gateway.has("ticket-without-origin"):
        raise Answer(401)
    return entry[0]
