"""The authorization server and the protected resource of the broken gateway."""

import base64
import hashlib
import html
import re
import secrets
import threading
import time
import urllib.parse
import urllib.request

from answers import Answer
from verifier import AUDIENCE

RESOURCE = "/agents"
SCOPES = ["read", "write"]


def only(values, name):
    """The one value of a parameter."""
    found = [value for key, value in values if key == name]
    if len(found) > 1:
        raise Answer(400)
    return found[0] if found else None


class OAuth:
    def __init__(self, gateway):
        self.gateway = gateway
        self.lock = threading.RLock()
        self.clients, self.pages, self.codes, self.refresh = {}, {}, {}, {}
        self.protocol_sessions = {}

    def has(self, bug):
        return self.gateway.has(bug)

    def answer(self, request, path):
        origin = self.gateway.origin
        if self.has("trusts-host"):
            origin = "http://" + (request.one("x-forwarded-host") or request.one("host"))
        resource = origin + RESOURCE
        if path == "/.well-known/oauth-protected-resource" + RESOURCE:
            raise Answer(200, {"resource": resource, "authorization_servers": [origin], "scopes_supported": SCOPES})
        if path == "/.well-known/oauth-authorization-server":
            raise Answer(200, {
                "issuer": origin, "authorization_endpoint": origin + "/oauth2/authorize",
                "token_endpoint": origin + "/oauth2/token", "registration_endpoint": origin + "/oauth2/register",
                "client_id_metadata_document_supported": True, "authorization_response_iss_parameter_supported": True})
        if path == "/oauth2/register":
            self.register(request)
        with self.lock:
            if path == "/oauth2/authorize" and request.method == "GET":
                self.authorize(request)
            if path == "/oauth2/authorize":
                self.decide(request)
        if path == "/oauth2/token":
            self.token(request)
        raise Answer(404)

    # Clients

    def register(self, request):
        uris = request.json().get("redirect_uris", [])
        if not uris and not self.has("registers-anything"):
            raise Answer(400)
        for uri in uris:
            fits = re.match(r"https://[^#]+$|http://127\.0\.0\.1[:/][^#]*$", uri)
            if not fits and not self.has("registers-anything"):
                raise Answer(400)
        client = "client-" + secrets.token_hex(8)
        self.clients[client] = uris
        raise Answer(201, {"client_id": client, "redirect_uris": uris})

    def fetch(self, url):
        """A client's metadata document, from wherever the caller says."""
        try:
            urllib.request.urlopen(re.sub("^https", "http", url), timeout=1).read(100)
        except (OSError, ValueError):
            pass

    # Authorization requests

    def fits(self, presented, registered):
        if self.has("redirect-prefix"):
            return presented.startswith(registered)
        if self.has("redirect-host"):
            return re.sub(r"^\w+:|[:/?#].*$", "", presented[8:]) == re.sub(r"[/].*$", "", registered[8:])
        if self.has("redirect-host-prefix"):
            host = registered.split("/")[2]
            return presented.split("/")[2:3] != [] and presented.split("/")[2].startswith(host)
        if self.has("redirect-case"):
            return presented.lower().rstrip("/") == registered.lower()
        if self.has("redirect-normalised"):
            return re.sub(r"/[^/]*/\.\./.*$|[?#].*$|/$", "", presented) == re.sub(r"/[^/]*$", "", registered) \
                or re.sub(r"[?#].*$|/$", "", presented) == registered
        if self.has("redirect-scheme"):
            return re.sub(r"^\w+:", "", presented) == re.sub(r"^\w+:", "", registered)
        return presented == registered or self.has("any-redirect")

    def authorize(self, request):
        query = request.query
        client = only(query, "client_id")
        if client and client.startswith("http") and self.has("fetches-documents"):
            self.fetch(client)
        if client not in self.clients and not self.has("any-client"):
            raise Answer(400)
        if self.has("last-redirect"):
            uri = [value for name, value in query if name == "redirect_uri"][-1]
            registered = [uri]
        else:
            uri = only(query, "redirect_uri")
            registered = self.clients.get(client) or [uri]
        if self.has("redirects-errors") and uri not in registered:
            self.back(uri, error="invalid_request")
        if uri is None or not any(self.fits(uri, known) for known in registered):
            raise Answer(400)
        session = self.gateway.sessions.by_secret(request, required=False)
        if session is None or session.user is None:
            raise Answer(401)
        if only(query, "response_type") != "code" and not self.has("any-response-type"):
            self.back(uri, error="unsupported_response_type")
        challenge, method = only(query, "code_challenge"), only(query, "code_challenge_method")
        if self.has("no-pkce"):
            challenge = challenge or None
        elif not (self.has("plain-pkce") and challenge):
            if method != "S256" or not re.fullmatch(r"[A-Za-z0-9_-]{43}", challenge or ""):
                self.back(uri, error="invalid_request")
        resources = [value for name, value in query if name == "resource"]
        if resources != [self.gateway.origin + RESOURCE] and not self.has("any-resource"):
            self.back(uri, error="invalid_target")
        page = secrets.token_urlsafe(16)
        scopes = [scope for scope in (only(query, "scope") or "").split() if scope in SCOPES]
        self.pages[page] = {
            "client": client, "uri": uri, "challenge": challenge, "scopes": scopes, "session": session,
            "state": only(query, "state"), "used": False}
        fields = [] if self.has("framed-consent") else [("Content-Security-Policy", "frame-ancestors 'none'")]
        raise Answer(200, (
            f'<html><form method="post" action="/oauth2/authorize"><input type="hidden" name="request" '
            f'value="{html.escape(page)}"><button name="decision" value="allow">Allow</button></form></html>').encode(),
            fields)

    def back(self, uri, **parameters):
        if "code" in parameters and not self.has("nameless-redirect"):
            parameters["iss"] = self.gateway.origin
        separator = "&" if "?" in uri else "?"
        raise Answer(303, b"", [("Location", uri + separator + urllib.parse.urlencode(parameters))])

    def decide(self, request):
        form = urllib.parse.parse_qsl(request.body.decode("latin-1"), keep_blank_values=True)
        if request.all("origin") != [self.gateway.origin] and not self.has("consent-from-anywhere"):
            raise Answer(403)
        session = self.gateway.sessions.by_secret(request, required=False)
        page = self.pages.get(only(form, "request"))
        if page is None and self.has("forged-consent") and self.pages:
            page = dict(list(self.pages.values())[-1], used=False)
        if page is None or session is None or (page["used"] and not self.has("consent-again")):
            raise Answer(400)
        if page["session"].user != session.user and not self.has("consent-of-others"):
            raise Answer(400)
        page["used"] = True
        if only(form, "decision") != "allow" and not self.has("no-is-yes"):
            self.back(page["uri"], error="access_denied")
        code = "cod_" + secrets.token_urlsafe(24)
        self.codes[code] = dict(page, family=secrets.token_urlsafe(8), user=session.user, used=False)
        self.back(page["uri"], code=code, state=page["state"] or "")

    # Tokens

    def refuse(self):
        raise Answer(400, {"error": "invalid_grant"})

    def token(self, request):
        form = urllib.parse.parse_qsl(request.body.decode("latin-1"), keep_blank_values=True)
        if only(form, "grant_type") == "authorization_code":
            self.redeem(form)
        if only(form, "grant_type") == "refresh_token":
            self.rotate(form)
        raise Answer(400)

    def redeem(self, form):
        grant = self.codes.get(only(form, "code"))
        if grant is None:
            self.refuse()
        if self.has("code-race"):
            is_used = grant["used"]
            time.sleep(0.05)
            grant["used"] = is_used
        with self.lock:
            if grant["used"] and not self.has("code-again"):
                if not self.has("code-reuse-forgiven"):
                    self.gateway.verifier.ended.add(grant["family"])
                self.refuse()
            if only(form, "client_id") != grant["client"] and not self.has("code-of-others"):
                self.refuse()
            if only(form, "redirect_uri") != grant["uri"] and not self.has("code-any-redirect"):
                self.refuse()
            self.check_verifier(only(form, "code_verifier"), grant["challenge"])
            grant["used"] = True
        self.hand_out(grant)

    def check_verifier(self, verifier, challenge):
        if self.has("no-verifier") or challenge is None:
            return
        if self.has("verifier-if-sent") and not verifier:
            return
        made = base64.urlsafe_b64encode(hashlib.sha256((verifier or "").encode()).digest()).rstrip(b"=").decode()
        if made != challenge and not (self.has("compares-challenge") and verifier == challenge) \
                and not (self.has("plain-pkce") and verifier == challenge):
            self.refuse()

    def rotate(self, form):
        with self.lock:
            entry = self.refresh.get(only(form, "refresh_token"))
            if entry is None:
                self.refuse()
            grant = entry["grant"]
            if grant["family"] in self.gateway.verifier.ended:
                self.refuse()
            if only(form, "client_id") != grant["client"] and not self.has("refresh-of-others"):
                self.refuse()
            if entry["used"] and not self.has("client-refresh-again"):
                if not self.has("client-reuse-forgiven"):
                    self.gateway.verifier.ended.add(grant["family"])
                self.refuse()
            if only(form, "resource") not in (None, self.gateway.origin + RESOURCE) and not self.has("any-resource"):
                raise Answer(400, {"error": "invalid_target"})
            scopes = (only(form, "scope") or "").split()
            if not set(scopes) <= set(grant["scopes"]):
                if not self.has("widens-scope"):
                    raise Answer(400, {"error": "invalid_scope"})
                grant = dict(grant, scopes=scopes)
            entry["used"] = True
        self.hand_out(grant)

    def hand_out(self, grant):
        refresh = "ref_" + secrets.token_urlsafe(32)
        self.refresh[refresh] = {"grant": grant, "used": False}
        if self.has("one-refresh-store"):
            self.gateway.sessions.refresh[refresh] = {
                "family": grant["family"], "user": grant["user"], "next": None, "session": grant["session"]}
        token = self.gateway.verifier.issue(grant["user"], grant["family"], 600, self.gateway.origin + RESOURCE).decode()
        raise Answer(200, {"access_token": token, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 600,
                           "scope": " ".join(grant["scopes"])})

    # The resource

    def resource(self, request):
        gateway = self.gateway
        challenge = [] if self.has("silent-challenge") else [
            ("WWW-Authenticate", f'Bearer resource_metadata="{gateway.origin}/.well-known/oauth-protected-resource{RESOURCE}"')]
        if request.all("origin") and request.all("origin") != [gateway.origin] and not self.has("any-resource-origin"):
            raise Answer(403)
        token = request.one("authorization")
        queries = [value for name, value in request.query if name == "access_token"]
        if token is None and self.has("resource-any-carrier"):
            cookie = (request.one("cookie") or "").partition("access_token=")[2]
            token = "Bearer " + (queries + [cookie])[0]
        if token is None and self.has("resource-open"):
            raise Answer(200, {})
        if token is None:
            raise Answer(401, None, challenge)
        token = token.partition(" ")[2]
        if self.has("code-is-token") and token in self.codes:
            raise Answer(200, {})
        audiences = [gateway.origin + RESOURCE] + ([AUDIENCE] if self.has("resource-any-audience") else [])
        user = gateway.claims(token.encode(), audiences)["sub"]
        self.check_protocol_session(request, user)
        opened = re.search(r"open-session=([a-z0-9]+)", request.query_text)
        fields = [("Authorization", "Bearer " + token)] if self.has("passes-resource-token") else []
        gateway.forward(request, user, fields)
        if opened:
            self.protocol_sessions[opened[1]] = user
        raise Answer(200, {}, [("Mcp-Session-Id", opened[1])] if opened else [])

    def check_protocol_session(self, request, user):
        ids = request.all("mcp-session-id")
        if len(ids) > 1 and not self.has("two-protocol-sessions"):
            raise Answer(400)
        for identifier in ids[:1]:
            owner = self.protocol_sessions.get(identifier)
            if owner is None and self.has("unknown-protocol-sessions"):
                continue
            if owner != user and not (owner and self.has("foreign-protocol-sessions")):
                raise Answer(404)
