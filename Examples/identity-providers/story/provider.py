"""oidc-provider-mock, and what it lacks: telling a client that a person has logged out. `provider.py PORT`

`POST /logout?sub=…&client_id=…&to=…` signs a logout token with the provider's own key and posts it to the client's
back-channel logout URI (OpenID Connect Back-Channel Logout 1.0).
"""

import logging
import sys
import time
import urllib.parse
import urllib.request
import uuid

import flask
import oidc_provider_mock
import werkzeug.serving
from authlib.jose import jwt

logging.getLogger("werkzeug").setLevel(logging.ERROR)
app = oidc_provider_mock.app()


@app.post("/logout")
def logout():
    now = int(time.time())
    claims = {
        "iss": flask.request.host_url.rstrip("/"), "aud": flask.request.args["client_id"],
        "sub": flask.request.args["sub"], "iat": now, "exp": now + 60, "jti": uuid.uuid4().hex,
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    }
    key = flask.g.oidc_provider_mock_storage.jwk
    token = jwt.encode({"alg": "RS256", "typ": "logout+jwt", "kid": key.as_dict().get("kid")}, claims, key).decode()
    form = urllib.parse.urlencode({"logout_token": token}).encode()
    with urllib.request.urlopen(flask.request.args["to"], form, timeout=5) as answer:
        return {"status": answer.status}


werkzeug.serving.run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True)
