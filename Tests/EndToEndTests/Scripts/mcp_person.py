"""A person with a browser, for the official SDK's own OAuth code: signs in at the gateway and answers the consent page."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

try:
    from mcp.shared.auth import AuthorizationCodeResult
except ImportError:
    from mcp.client.auth.oauth2 import AuthorizationCodeResult

REDIRECT = "http://127.0.0.1:1/callback"


class Storage:
    """What the SDK keeps of its registration and tokens."""

    def __init__(self, client_id):
        self.tokens = None
        self.client = None
        if client_id:
            self.client = OAuthClientInformationFull(
                client_id=client_id, redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
            )

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, info):
        self.client = info


class Person:
    """`provider` is what the SDK authorises with; `client` makes the HTTP clients of both."""

    def __init__(self, origin, email, password, client_id=None, **options):
        self.origin, self.email, self.password = origin, email, password
        self.options = options
        self.storage = Storage(client_id)
        self.page = ""
        self.query = {}
        self.browser = self.client(headers={"Sec-Fetch-Site": "same-origin"})
        self.provider = OAuthClientProvider(
            server_url=origin + "/mcp",
            client_metadata=OAuthClientMetadata(
                client_name="SDK test", redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
            ),
            storage=self.storage,
            redirect_handler=self.open_page,
            callback_handler=self.callback,
        )

    def client(self, **more):
        return httpx2.AsyncClient(timeout=60, **self.options, **more)

    async def sign_in(self):
        body = {"email": self.email, "password": self.password}
        answer = await self.browser.post(self.origin + "/api/auth/login", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def open_page(self, location):
        page = await self.browser.get(location)
        if page.is_redirect and page.headers["location"].startswith(REDIRECT):
            # Another authorization server, which asks no one.
            self.query = parse_qs(urlsplit(page.headers["location"]).query)
            return
        assert page.status_code == 200, (page.status_code, page.headers.get("location"), page.text)
        field = re.search(r'name="request" value="([^"]+)"', page.text).group(1)
        decided = await self.browser.post(
            self.origin + "/oauth2/authorize",
            data={"request": html.unescape(field), "decision": "allow"},
            headers={"Origin": self.origin},
        )
        assert decided.status_code == 303, decided.text
        self.query = parse_qs(urlsplit(decided.headers["location"]).query)
        self.page = page.text

    async def callback(self):
        query = self.query
        return AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query.get("iss", [None])[0]
        )
