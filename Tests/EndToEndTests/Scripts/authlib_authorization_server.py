"""An authorization server made of Authlib and Flask, as another project would write one: code flow with PKCE, access tokens
of RFC 9068 for the `resource` that was asked for, signed with ES256. Everybody who comes allows everything. Prints its
issuer. Its client is `agent-7`, without a secret. Usage: authlib_authorization_server.py"""

import logging
import os
import secrets
import socket
import urllib.parse
import warnings

warnings.simplefilter("ignore")
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2.rfc6749 import grants  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator  # noqa: E402
from flask import Flask, jsonify, request  # noqa: E402
from joserfc import jwk  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
ISSUER = f"http://127.0.0.1:{listener.getsockname()[1]}"
KEY = jwk.ECKey.generate_key("P-256", parameters={"use": "sig", "alg": "ES256"}, auto_kid=True)
codes = {}


class Client:
    client_id = "agent-7"

    def get_client_id(self): return self.client_id
    def get_default_redirect_uri(self): return None
    def get_allowed_scope(self, scope): return scope or ""
    def check_redirect_uri(self, uri): return uri == "http://127.0.0.1:1/callback"
    def check_endpoint_auth_method(self, method, endpoint): return method == "none"
    def check_response_type(self, kind): return kind == "code"
    def check_grant_type(self, kind): return kind == "authorization_code"


class Code(dict):
    def get_redirect_uri(self): return self["redirect_uri"]
    def get_scope(self): return self["scope"]
    code_challenge = property(lambda self: self["challenge"])
    code_challenge_method = property(lambda self: self["method"])


class User:
    def get_user_id(self): return "grace"


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code, request):
        data = request.payload.data
        codes[code] = Code(
            code=code, redirect_uri=request.payload.redirect_uri, scope=request.payload.scope,
            challenge=data.get("code_challenge"), method=data.get("code_challenge_method"))

    def query_authorization_code(self, code, client): return codes.get(code)
    def delete_authorization_code(self, code): codes.pop(code["code"], None)
    def authenticate_user(self, code): return User()


class Tokens(JWTBearerTokenGenerator):
    def get_jwks(self): return KEY
    # Authlib leaves RFC 8707 to its users.
    def get_audiences(self, client, user, scope): return request.form["resource"]


app = Flask(__name__)
app.secret_key = secrets.token_bytes(16)
server = AuthorizationServer(
    app, query_client=lambda id: Client() if id == Client.client_id else None, save_token=lambda token, request: None)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_token_generator("default", Tokens(ISSUER, alg="ES256"))


@app.get("/.well-known/oauth-authorization-server")
@app.get("/.well-known/openid-configuration")
def metadata():
    return jsonify(
        issuer=ISSUER, authorization_endpoint=f"{ISSUER}/authorize", token_endpoint=f"{ISSUER}/token",
        jwks_uri=f"{ISSUER}/jwks", response_types_supported=["code"], code_challenge_methods_supported=["S256"],
        token_endpoint_auth_methods_supported=["none"], authorization_response_iss_parameter_supported=True)


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


logging.getLogger("werkzeug").setLevel("ERROR")
httpd = make_server("127.0.0.1", listener.getsockname()[1], app, threaded=True, fd=listener.fileno())
print(ISSUER, flush=True)
httpd.serve_forever()
