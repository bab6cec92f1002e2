"""A resource server made of Authlib's validator of access tokens (RFC 9068): `resource_server.py PORT JWKS`."""

import json
import logging
import sys

from authlib.integrations.flask_oauth2 import ResourceProtector
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from flask import Flask, jsonify
from werkzeug.serving import make_server

with open(sys.argv[2]) as file:
    KEYS = json.load(file)


class Validator(JWTBearerTokenValidator):
    def get_jwks(self):
        return KEYS


logging.getLogger("werkzeug").disabled = True
require_oauth = ResourceProtector()
require_oauth.register_token_validator(Validator(issuer="https://issuer.example", resource_server="peers"))
app = Flask(__name__)


@app.get("/protected")
@require_oauth()
def protected():
    return jsonify(secret="what is protected")


make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True).serve_forever()
