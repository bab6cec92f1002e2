"""A server of the SDK behind the gateway, and a client of the SDK that a person authorises. `story.py PATH-OF-GATEHOUSE`

The client calls a tool and keeps a stream open; then the person ends the grant."""

import asyncio
import contextlib
import html
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

try:
    from mcp.shared.auth import AuthorizationCodeResult
except ImportError:
    from mcp.client.auth.oauth2 import AuthorizationCodeResult

sys.path.append(str(pathlib.Path(__file__).parent.parent.parent))
from processes import listening, running, unused_ports  # noqa: E402

SERVER = pathlib.Path(__file__).parent.parent / "server.py"
EMAIL, PASSWORD = "ada@example.com", "correct horse battery"
REDIRECT = "http://127.0.0.1:1/callback"


class Storage:
    """What the SDK keeps of its registration and its tokens."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, info):
        self.client = info


class Person:
    """A person with a browser."""

    def __init__(self, gate):
        self.gate = gate
        self.browser = httpx2.AsyncClient(timeout=20, headers={"Sec-Fetch-Site": "same-origin"})

    async def sign_in(self):
        body = {"email": EMAIL, "password": PASSWORD}
        answer = (await self.browser.post(f"{self.gate}/api/auth/login", json=body)).raise_for_status().json()
        self.token = answer["access_token"]

    async def allow(self, location):
        page = (await self.browser.get(location)).raise_for_status()
        field = html.unescape(re.search(r'name="request" value="([^"]+)"', page.text).group(1))
        decided = await self.browser.post(
            f"{self.gate}/oauth2/authorize", data={"request": field, "decision": "allow"}, headers={"Origin": self.gate}
        )
        self.answer = parse_qs(urlsplit(decided.headers["location"]).query)
        print(f"the person      allows it on the consent page of {urlsplit(location).netloc}")

    async def callback(self):
        code, state, issuer = (self.answer[name][0] for name in ("code", "state", "iss"))
        return AuthorizationCodeResult(code=code, state=state, iss=issuer)

    async def end_grant(self):
        fields = {"Authorization": "Bearer " + self.token}
        grants = (await self.browser.get(f"{self.gate}/api/auth/grants", headers=fields)).json()["grants"]
        answer = await self.browser.delete(f"{self.gate}/api/auth/grants/{grants[0]['id']}", headers=fields)
        answer.raise_for_status()
        return grants[0]


async def main(binary):
    gate_port, server_port = unused_ports(2)
    gate = f"http://127.0.0.1:{gate_port}"
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place, "gatehouse.yaml")
        file.write_text(f"""
server: {{listen: "127.0.0.1:{gate_port}", admin: off}}
tokens: {{issuer: "{gate}"}}
state: {{url: "sqlite:{place}/gatehouse.sqlite"}}
keys: {{directory: "{place}/keys"}}
clients: {{registration: true}}
routes:
  - {{path: /mcp, upstream: "http://127.0.0.1:{server_port}", scopes: [tools],
     resource: {{name: "Example tools", scopes: [tools]}}}}
""")
        subprocess.run(
            [binary, "users", "add", EMAIL, "--tenant", "acme", "--password-stdin", "--config", str(file)],
            input=PASSWORD, text=True, check=True, capture_output=True)
        with running(sys.executable, SERVER, server_port) as server, running(binary, "serve", "--config", file) as gateway:
            await listening(server_port, server)
            await listening(gate_port, gateway)
            await tell(gate)


async def tell(gate):
    url = f"{gate}/mcp"
    person, storage = Person(gate), Storage()
    await person.sign_in()
    refused = await httpx2.AsyncClient().post(url)
    print(f"without a token {refused.status_code}, and where to ask: {refused.headers['www-authenticate'][:60]}…")
    provider = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="The story's agent", redirect_uris=[REDIRECT], token_endpoint_auth_method="none"),
        storage=storage, redirect_handler=person.allow, callback_handler=person.callback)
    async with httpx2.AsyncClient(auth=provider, timeout=20) as http:
        async with Client(streamable_http_client(url, http_client=http), mode="legacy") as client:
            print(f"registers       itself as {storage.client.client_id[:12]}…")
            total = await client.call_tool("add", {"a": 2, "b": 3})
            print(f"calls a tool    add(2, 3) -> {total.content[0].text}")
            caller = await client.call_tool("caller", {})
            print(f"the server      sees {caller.structured_content['x-gatehouse-user'][:12]}… and no token")
    await cut(url, person, storage.tokens.access_token)


async def cut(url, person, token):
    """Opens a session and its stream like any client, and measures how long the stream outlives the grant."""
    fields = {"Authorization": "Bearer " + token, "Accept": "application/json, text/event-stream"}
    begin = {
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "story", "version": "1"}},
    }
    async with httpx2.AsyncClient(timeout=20, headers=fields) as http:
        answer = (await http.post(url, json=begin)).raise_for_status()
        fields = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        await http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=fields)
        async with http.stream("GET", url, headers=fields) as stream:
            assert stream.status_code == 200, stream.status_code
            ended = asyncio.create_task(read_to_end(stream))
            begun = time.monotonic()
            grant = await person.end_grant()
            at = await asyncio.wait_for(ended, 10)
        print(f"ends the grant  of {grant['client_name']}: {(at - begun) * 1000:.0f} ms later its stream was cut")
        after = await http.post(url, json=begin)
        print(f"the token       is worth nothing now: {after.status_code}")
        assert after.status_code == 401, "the token outlives its grant"


async def read_to_end(stream):
    with contextlib.suppress(httpx2.HTTPError):
        async for _ in stream.aiter_bytes():
            pass
    return time.monotonic()


# A parent that blocks signals would make the programs started here deaf to the one that ends them.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
asyncio.run(main(sys.argv[1]))
