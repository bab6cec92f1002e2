"""An OpenID provider made of Authlib and Flask, as another project would write one: code flow, PKCE required, client
authentication with client_secret_post or private_key_jwt, RS256, `iss` in the response, and a logout endpoint of the
back channel. Prints its issuer. Usage: authlib_provider.py CLIENT_JWKS_URL"""

import json
import logging
import os
import secrets
import socket
import sys
import time
import urllib.parse
import urllib.request
import warnings

warnings.simplefilter("ignore")
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2.rfc6749 import grants  # noqa: E402
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oidc.core import UserInfo  # noqa: E402
from authlib.oidc.core.grants import OpenIDCode  # noqa: E402
from flask import Flask, jsonify, request  # noqa: E402
from joserfc import jwk, jwt  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

CLIENT_JWKS = sys.argv[1]
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
PORT = listener.getsockname()[1]
ISSUER = f"http://127.0.0.1:{PORT}"
KEY = jwk.RSAKey.generate_key(2048, parameters={"use": "sig", "alg": "RS256"}, auto_kid=True)
PERSON = {"sub": "authlib-1", "name": "Grace", "email": "grace@authlib.example", "email_verified": True,
          "groups": ["navy"], "sid": "authlib-session"}
codes, assertions = {}, set()


class Client:
    client_id = "gate"
    client_secret = "a secret: with / signs & ünïcode".encode().decode("ascii", "ignore")

    def __init__(self, method): self.method = method
    def get_client_id(self): return self.client_id
    def get_default_redirect_uri(self): return None
    def get_allowed_scope(self, scope): return scope or ""
    def check_redirect_uri(self, uri): return urllib.parse.urlsplit(uri).path.startswith("/api/auth/callback/")
    def check_client_secret(self, secret): return secrets.compare_digest(secret, self.client_secret)
    def check_endpoint_auth_method(self, method, endpoint): return method == self.method
    def check_response_type(self, kind): return kind == "code"
    def check_grant_type(self, kind): return kind == "authorization_code"


class Code(dict):
    def get_redirect_uri(self): return self["redirect_uri"]
    def get_scope(self): return self["scope"]
    def get_nonce(self): return self["nonce"]
    def get_auth_time(self): return self["auth_time"]
    def get_acr(self): return "urn:example:silver"
    def get_amr(self): return ["pwd"]
    code_challenge = property(lambda self: self["challenge"])
    code_challenge_method = property(lambda self: self["method"])


class User:
    def get_user_id(self): return PERSON["sub"]


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post", "client_secret_basic", "client_assertion_jwt"]

    def save_authorization_code(self, code, request):
        data = request.payload.data
        codes[code] = Code(
            code=code, redirect_uri=request.payload.redirect_uri, scope=request.payload.scope,
            nonce=data.get("nonce"), challenge=data.get("code_challenge"),
            method=data.get("code_challenge_method"), auth_time=int(time.time()))

    def query_authorization_code(self, code, client): return codes.get(code)
    def delete_authorization_code(self, code): codes.pop(code["code"], None)
    def authenticate_user(self, code): return User()


class IDCode(OpenIDCode):
    def exists_nonce(self, nonce, request): return False
    def get_jwt_config(self, grant): return {"key": KEY.as_dict(private=True), "alg": "RS256", "iss": ISSUER, "exp": 300}
    def generate_user_info(self, user, scope): return UserInfo(**PERSON)


class Assertion(JWTBearerClientAssertion):
    def validate_jti(self, claims, jti):
        fresh = jti not in assertions
        assertions.add(jti)
        return fresh

    def resolve_client_public_key(self, client, headers):
        with urllib.request.urlopen(CLIENT_JWKS) as answer:
            return next(k for k in json.load(answer)["keys"] if k["kid"] == headers["kid"])


METHOD = sys.argv[2] if len(sys.argv) > 2 else "client_secret_post"
app = Flask(__name__)
app.secret_key = secrets.token_bytes(16)
tokens = {}
server = AuthorizationServer(
    app, query_client=lambda id: Client(METHOD) if id == "gate" else None,
    save_token=lambda token, request: tokens.update({token["access_token"]: True}))
server.register_grant(CodeGrant, [IDCode(require_nonce=True), CodeChallenge(required=True)])
server.register_client_auth_method("client_assertion_jwt", Assertion(f"{ISSUER}/token"))


@app.get("/.well-known/openid-configuration")
def discovery():
    return jsonify(
        issuer=ISSUER, authorization_endpoint=f"{ISSUER}/authorize", token_endpoint=f"{ISSUER}/token",
        jwks_uri=f"{ISSUER}/jwks", response_types_supported=["code"], subject_types_supported=["public"],
        id_token_signing_alg_values_supported=["RS256"], code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True, backchannel_logout_supported=True)


@app.get("/jwks")
def jwks(): return jsonify(keys=[KEY.as_dict(private=False)])


@app.get("/authorize")
def authorize():
    answer = server.create_authorization_response(grant_user=User(), grant=server.get_consent_grant(end_user=User()))
    if "location" in answer.headers:
        answer.headers["location"] += "&iss=" + urllib.parse.quote(ISSUER, safe="")
    return answer


@app.post("/token")
def token(): return server.create_token_response()


@app.get("/logout-token")
def logout_token():
    """What this provider would post to the gateway."""
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": "gate", "iat": now, "exp": now + 120, "jti": secrets.token_urlsafe(8),
              "sid": PERSON["sid"], "sub": PERSON["sub"],
              "events": {"http://schemas.openid.net/event/backchannel-logout": {}}}
    return jwt.encode({"alg": "RS256", "typ": "logout+jwt", "kid": KEY.kid}, claims, KEY)


logging.getLogger("werkzeug").setLevel("ERROR")
httpd = make_server("127.0.0.1", PORT, app, threaded=True, fd=listener.fileno())
print(ISSUER, flush=True)
httpd.serve_forever()
