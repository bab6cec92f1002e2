"""Sessions, logins and refresh tokens of the broken gateway."""

import secrets
import threading
import time

from answers import Answer

PASSWORDS = {"attack-one@example.com": ("usr_one", "attack-one-password"),
             "attack-two@example.com": ("usr_two", "attack-two-password")}


class Session:
    def __init__(self):
        self.id = "ses_" + secrets.token_urlsafe(16)
        self.secret = "sec_" + secrets.token_urlsafe(32)
        self.old_secrets = set()
        self.user = None
        self.families = set()
        self.ended = False
        self.tokens = set()


class Sessions:
    def __init__(self, gateway):
        self.gateway = gateway
        self.lifetime = 3 if gateway.has("short-tokens") else 600
        self.lock = threading.RLock()
        self.sessions = {}
        self.refresh = {}
        self.tickets = {}
        self.sockets = []
        self.passwords = dict(PASSWORDS)

    def has(self, bug):
        return self.gateway.has(bug)

    # Answers

    def answer(self, request, path):
        if request.method != "GET":
            self.check_site(request)
        with self.lock:
            if path == "/api/session/create-anonymous":
                session = Session()
                body = request.json()
                if self.has("adopts-chosen-id"):
                    session.id = body.get("session_id", session.id)
                if self.has("adopts-chosen-secret"):
                    session.secret = request.one("session-secret") or session.secret
                self.sessions[session.id] = session
                raise Answer(200, self.view(session, True))
            if path == "/api/session":
                user = self.bearer(request)
                mine = [one for one in self.sessions.values() if not one.ended
                        and (self.has("lists-everybody") or user is not None and one.user == user)]
                raise Answer(200 if user else 401, {"sessions": [self.view(one) for one in mine]})
            if path == "/api/session/create":
                user = self.bearer(request)
                if user is None:
                    raise Answer(401)
                session = Session()
                session.user = user
                self.sessions[session.id] = session
                raise Answer(200, self.view(session, True))
            if path == "/api/session/current":
                raise Answer(200, self.view(self.by_secret(request)))
            if path == "/api/auth/login":
                self.login(request)
            if path == "/api/auth/refresh":
                self.rotate(request)
            if path == "/api/auth/logout":
                self.logout(request)
            if path == "/api/auth/password":
                self.change_password(request)
        if path.startswith("/api/session/"):
            self.session(request, path.split("/")[3], (path.split("/") + [""])[4])
        raise Answer(404)

    def check_site(self, request):
        if self.has("any-site"):
            return
        if any(origin != self.gateway.origin for origin in request.all("origin")):
            raise Answer(403)
        if request.one("sec-fetch-site") == "cross-site":
            raise Answer(403)

    def view(self, session, hands_out=False):
        view = {"session_id": session.id, "user_id": session.user}
        return view | {"session_secret": session.secret} if hands_out else view

    # Proofs

    def by_secret(self, request, required=True):
        secret = request.one("session-secret")
        pairs = [pair.strip().partition("=")[::2] for pair in (request.one("cookie") or "").split(";")]
        if len({value for name, value in pairs if name == "gatehouse"}) > 1 and not self.has("last-cookie"):
            raise Answer(400)
        other = dict(pairs).get("gatehouse")
        if secret and other and secret != other and not self.has("two-secrets"):
            raise Answer(400)
        secret = secret or other
        for session in self.sessions.values():
            if session.ended and not self.has("secret-outlives-session"):
                continue
            if secret and (secret == session.secret or (self.has("keeps-old-secret") and secret in session.old_secrets)):
                return session
            if self.has("token-is-secret") and secret in session.tokens:
                return session
            if self.has("id-is-secret") and secret == session.id:
                return session
            if self.has("refresh-is-secret") and self.refresh.get(secret, {}).get("session") is session:
                return session
        if required:
            raise Answer(401)
        return None

    def bearer(self, request):
        if request.one("authorization") is None:
            return None
        return self.gateway.claims(self.gateway.token(request))["sub"]

    # Logins

    def tokens(self, session, user):
        family = secrets.token_urlsafe(8)
        session.families.add(family)
        refresh = "ref_" + secrets.token_urlsafe(32)
        self.refresh[refresh] = {"family": family, "user": user, "next": None, "session": session}
        token = self.gateway.verifier.issue(user, family, self.lifetime).decode()
        session.tokens.add(token)
        return {"access_token": token, "refresh_token": refresh, "expires_in": self.lifetime}

    def login(self, request):
        body = request.json()
        user, password = self.passwords.get(body.get("email"), (None, None))
        if password is None or password != body.get("password"):
            raise Answer(401)
        named = self.sessions.get(body.get("session_id"))
        session = self.by_secret(request, required=False)
        if self.has("revives-sessions") and named and named.ended:
            named.ended, session = False, named
        if self.has("adopts-named-session") and named:
            session = named
        if self.has("adopts-chosen-id") and body.get("session_id") and not named:
            session = Session()
            session.id = body["session_id"]
            self.sessions[session.id] = session
        if session and session.ended:
            session = None
        if session and session.user not in (None, user) and not self.has("changes-owner"):
            raise Answer(409)
        self.race("login-race", 0.2)
        if session is None:
            session = Session()
            self.sessions[session.id] = session
        if not self.has("keeps-old-family"):
            self.gateway.verifier.ended |= session.families
            session.families = set()
        session.user = user
        session.old_secrets.add(session.secret)
        session.secret = "sec_" + secrets.token_urlsafe(32)
        raise Answer(200, self.view(session, True) | self.tokens(session, user))

    def race(self, bug, seconds=0.02):
        """Lets others go on in the middle, if that mistake is made."""
        if self.has(bug):
            self.lock.release()
            time.sleep(seconds)
            self.lock.acquire()

    def change_password(self, request):
        user, body = self.bearer(request), request.json()
        session = self.of_token(request)
        email = next((email for email, (one, _) in self.passwords.items() if one == user), None)
        if email is None or self.passwords[email][1] != body.get("current") or not body.get("new"):
            raise Answer(401)
        self.passwords[email] = (user, body["new"])
        for one in self.sessions.values():
            if one.user == user and one is not session and not self.has("outlives-password"):
                self.end(one, "password")
        raise Answer(204)

    def of_token(self, request):
        """The session of a request's access token."""
        family = self.gateway.claims(self.gateway.token(request)).get("fid")
        return next((one for one in self.sessions.values() if family in one.families), None)

    def rotate(self, request):
        token = request.json().get("refresh_token", "")
        if self.has("one-store") and token.startswith(("sec_", "tkt_")):
            raise Answer(200, {"access_token": "x", "refresh_token": "ref_x"})
        if self.has("access-is-refresh") and token.startswith("ey"):
            raise Answer(200, {"access_token": token, "refresh_token": "ref_x"})
        if self.has("empty-refresh") and token == "":
            raise Answer(200, {"access_token": "x", "refresh_token": "ref_x"})
        if self.has("compares-half") and token not in self.refresh:
            token = next((known for known in self.refresh if known[:20] == token[:20]), token)
        entry = self.refresh.get(token)
        if entry is None:
            raise Answer(401)
        session, family = entry["session"], entry["family"]
        if family in self.gateway.verifier.ended and not self.has("family-outlives-reuse"):
            if not (self.has("refresh-outlives-logout") and session.ended):
                raise Answer(401)
        if session.ended and not self.has("refresh-outlives-logout"):
            raise Answer(401)
        successor = self.refresh.get(entry["next"])
        self.race("refresh-race")
        if self.has("logout-race"):
            self.race("logout-race", 0.2)
            if session.ended:
                # What ended meanwhile is made again.
                session.ended = False
                family = secrets.token_urlsafe(8)
                session.families.add(family)
        if successor is not None and not self.has("refresh-race"):
            if successor["next"] is None and not self.has("forks-family"):
                self.answer_pair(session, entry, entry["next"])
            if self.has("forks-family"):
                new = "ref_" + secrets.token_urlsafe(32)
                self.refresh[new] = {"family": family, "user": entry["user"], "next": None, "session": session}
                self.answer_pair(session, entry, new)
            if self.has("reusable-refresh"):
                self.answer_pair(session, entry, entry["next"])
            self.end_family(session, family)
            raise Answer(401)
        new = "ref_" + secrets.token_urlsafe(32)
        self.refresh[new] = {"family": family, "user": entry["user"], "next": None, "session": session}
        entry["next"] = new
        if self.has("refresh-closes-sockets"):
            self.close_sockets(session)
        self.answer_pair(session, entry, new)

    def answer_pair(self, session, entry, refresh):
        token = self.gateway.verifier.issue(entry["user"], entry["family"], self.lifetime).decode()
        session.tokens.add(token)
        raise Answer(200, {"access_token": token, "refresh_token": refresh, "expires_in": self.lifetime})

    def end_family(self, session, family):
        if not self.has("access-outlives-reuse"):
            self.gateway.verifier.ended.add(family)
        if not self.has("socket-outlives-reuse"):
            self.close_sockets(session)

    # Ends

    def logout(self, request):
        self.race("logout-race", 0.05)
        refresh = request.json().get("refresh_token")
        if refresh and request.one("authorization") is None:
            entry = self.refresh.get(refresh)
            session = entry and entry["session"]
            if self.has("forgets-refresh-only"):
                self.refresh.pop(refresh, None)
                session = None
        else:
            session = self.of_token(request)
        if session:
            self.end(session, "logout")
        raise Answer(204)

    def end(self, session, cause):
        session.ended = True
        if self.has("revokes-by-text"):
            self.gateway.verifier.ended_texts |= session.tokens
        elif not self.has("access-outlives-logout"):
            self.gateway.verifier.ended |= session.families
        if not self.has("socket-outlives-" + cause):
            self.close_sockets(session)

    def close_sockets(self, session):
        for one, connection in list(self.sockets):
            if one is session:
                try:
                    connection.sendall(b"\x88\x02\x11\x33")
                    connection.shutdown(2)
                except OSError:
                    pass

    # One session

    def session(self, request, identifier, action):
        with self.lock:
            session = self.sessions.get(identifier)
            proof = self.by_secret(request, required=False)
            user = self.bearer(request)
            if action == "upgrade":
                return self.upgrade(request, session, proof, user)
            name = "ticket" if action == "ticket" else {"DELETE": "delete"}.get(request.method, "read")
            is_owner = session is not None and user is not None and session.user == user
            if user is None and proof is None and not (self.has(f"id-alone-{name}") and session):
                raise Answer(401)
            if session is None or not (is_owner or proof is session or self.has(f"foreign-{name}")
                                       or (proof is not None and self.has("any-secret"))
                                       or (user is None and self.has(f"id-alone-{name}"))):
                raise Answer(404 if session is None and self.has("tells-unknown") else 403)
            if session.ended and not (name == "ticket" and self.has("ticket-outlives-session")):
                raise Answer(410)
            if name == "ticket":
                ticket = "tkt_" + secrets.token_urlsafe(32)
                self.tickets[ticket] = (session, request.one("origin"))
                raise Answer(200, {"ticket": ticket})
            if name == "delete":
                self.end(session, "end")
                raise Answer(204)
            raise Answer(200, self.view(session))

    def upgrade(self, request, session, proof, user):
        if session and session.ended and self.has("revives-sessions"):
            session.ended, proof = False, session
        proved = proof is session or (proof is None and self.has("upgrades-without-secret"))
        if session is None or not proved or user is None:
            raise Answer(403)
        owner = session.user
        self.race("upgrade-race")
        if owner not in (None, user) and not self.has("changes-owner") and not self.has("upgrades-without-secret"):
            raise Answer(409)
        session.user = user
        if owner is None:
            session.old_secrets.add(session.secret)
            if not self.has("upgrade-race"):
                session.secret = "sec_" + secrets.token_urlsafe(32)
        raise Answer(200, self.view(session, True))
