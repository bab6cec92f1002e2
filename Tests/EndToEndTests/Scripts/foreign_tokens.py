"""Tokens, keys and metadata of a gateway, read by Authlib and joserfc as an application would.

    foreign_tokens.py ORIGIN EMAIL PASSWORD CLIENT_ID CLIENT_SECRET

Prints one JSON object: what each library found.
"""

import base64
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import joserfc.jwk
import joserfc.jwt
from authlib.common.security import generate_token
from authlib.oauth2.client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from joserfc.errors import JoseError

ORIGIN, EMAIL, PASSWORD, CLIENT, SECRET = sys.argv[1:]


class Session:
    """What Authlib's client needs of an HTTP library."""

    def __init__(self):
        self.headers = {}

    def post(self, url, data=None, headers=None, auth=None, **_):
        body = data if isinstance(data, str) else urllib.parse.urlencode(data)
        if auth:
            url, headers, body = auth.prepare("POST", url, dict(headers or {}), body)
        request = urllib.request.Request(url, data=body.encode(), method="POST", headers=dict(headers or {}))
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        return Answer(answer.status, answer.read().decode())


class Answer:
    def __init__(self, status, text):
        self.status_code, self.text = status, text

    def json(self):
        return json.loads(self.text)

    def raise_for_status(self):
        assert self.status_code < 500, self.text


def call(path, body=None, token=None):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = "Bearer " + token
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(ORIGIN + path, data=data, headers=headers), timeout=60) as answer:
        return dict(answer.headers), json.loads(answer.read() or "null")


def read(token, keys, algorithm, audience):
    claims = joserfc.jwt.decode(token, keys, algorithms=[algorithm])
    rules = {"iss": {"essential": True, "value": ORIGIN}, "aud": {"essential": True, "value": audience}}
    joserfc.jwt.JWTClaimsRegistry(leeway=0, exp={"essential": True}, iat={"essential": True}, **rules).validate(
        claims.claims)
    return claims


def owner(token, login):
    return "ours" if token.claims["sub"] == login["user_id"] else "another's"


def refused(token, keys, algorithm):
    head, body, signature = token.split(".")
    forged = ".".join([head, body, ("A" if signature[0] != "A" else "B") + signature[1:]])
    try:
        joserfc.jwt.decode(forged, keys, algorithms=[algorithm])
    except JoseError:
        return True
    return False


def main():
    found = {}
    metadata = call("/.well-known/oauth-authorization-server")[1]
    authlib_metadata = AuthorizationServerMetadata(metadata)
    # A server without an authorization endpoint has no response types, which RFC 8414 asks for all the same.
    for rule in ("issuer", "token_endpoint", "jwks_uri", "token_endpoint_auth_methods_supported",
                 "grant_types_supported", "introspection_endpoint", "revocation_endpoint"):
        getattr(authlib_metadata, "validate_" + rule)()
    found["issuer"] = metadata["issuer"]

    keys = joserfc.jwk.KeySet.import_key_set(call(metadata["jwks_uri"].removeprefix(ORIGIN))[1])
    login = call("/api/auth/login", {"email": EMAIL, "password": PASSWORD})[1]
    token = login["access_token"]
    algorithm = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))["alg"]
    access = read(token, keys, algorithm, "gatehouse")
    found["algorithm"] = algorithm
    found["access"] = [access.header["typ"], owner(access, login)]
    found["forged"] = refused(token, keys, algorithm)
    fields = call("/api/auth/verify", token=token)[0]
    assertion = read(fields["X-Gatehouse-Assertion"], keys, algorithm, "gatehouse-verify")
    found["assertion"] = [assertion.header["typ"], owner(assertion, login)]

    client = OAuth2Client(Session(), client_id=CLIENT, client_secret=SECRET)
    granted = client.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    found["client"] = read(granted["access_token"], keys, algorithm, "gatehouse").claims["sub"] == CLIENT
    introspected = client.introspect_token(metadata["introspection_endpoint"], token=granted["access_token"])
    found["introspected"] = introspected.json()["active"]
    client.revoke_token(metadata["revocation_endpoint"], token=granted["access_token"])
    again = client.introspect_token(metadata["introspection_endpoint"], token=granted["access_token"])
    found["revoked"] = not again.json()["active"]
    stranger = OAuth2Client(Session(), client_id=CLIENT, client_secret=generate_token(43))
    try:
        stranger.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
        found["stranger"] = "let in"
    except Exception as error:  # Authlib has several kinds
        found["stranger"] = getattr(error, "error", str(error))
    print(json.dumps(found))


main()
