"""Authlib as the client: authlib_client.py ORIGIN EMAIL PASSWORD CLIENT_ID. Authorises, refreshes, revokes, prints JSON."""

import html
import json
import os
import re
import sys

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.integrations.requests_client import OAuth2Session

origin, email, password, client_id = sys.argv[1:5]
metadata = requests.get(origin + "/.well-known/oauth-authorization-server", timeout=60).json()
resource = requests.get(origin + "/.well-known/oauth-protected-resource/mcp", timeout=60).json()["resource"]
browser = requests.Session()
browser.headers["Sec-Fetch-Site"] = "same-origin"
assert browser.post(origin + "/api/auth/login", json={"email": email, "password": password}, timeout=60).ok

client = OAuth2Session(
    client_id, redirect_uri="http://127.0.0.1:7/cb", scope="read", code_challenge_method="S256",
    token_endpoint_auth_method="none", revocation_endpoint_auth_method="none",
)
verifier = "a" * 50
location, state = client.create_authorization_url(
    metadata["authorization_endpoint"], code_verifier=verifier, resource=resource
)
page = browser.get(location, timeout=60)
field = html.unescape(re.search(r'name="request" value="([^"]+)"', page.text).group(1))
decided = browser.post(
    metadata["authorization_endpoint"], data={"request": field, "decision": "allow"},
    headers={"Origin": origin}, allow_redirects=False, timeout=60,
)
token = client.fetch_token(
    metadata["token_endpoint"], authorization_response=decided.headers["Location"], code_verifier=verifier,
    state=state,
)
called = client.post(origin + "/mcp", data="{}", timeout=60).status_code
refreshed = client.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
after = client.post(origin + "/mcp", data="{}", timeout=60).status_code
revoked = client.revoke_token(metadata["revocation_endpoint"], token=refreshed["refresh_token"])
gone = requests.post(
    origin + "/mcp", data="{}", headers={"Authorization": "Bearer " + refreshed["access_token"]}, timeout=60
).status_code
print(
    json.dumps(
        {"scope": token["scope"], "called": called, "after": after, "revoked": revoked.status_code, "gone": gone}
    )
)
