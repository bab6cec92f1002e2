"""The client of the official SDK with its own OAuth code: mcp_client.py ORIGIN EMAIL PASSWORD MODE [CLIENT_ID].

Signs in at the gateway as a browser would, lets the SDK discover, register and authorise by itself, answers the consent
page, calls tools, and prints one JSON object. With `+h2` after the mode, everything goes over HTTP/2."""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_person import Person

origin, email, password, mode = sys.argv[1:5]
client_id = sys.argv[5] if len(sys.argv) > 5 else None
mode, _, protocol = mode.partition("+")
url = origin + "/mcp"


async def main():
    versions = set()

    async def note(response):
        versions.add(response.http_version)

    options = {"event_hooks": {"response": [note]}}
    if protocol:
        # The certificate is the test's own.
        options |= {"http2": True, "verify": False}
    person = Person(origin, email, password, client_id, **options)
    await person.sign_in()
    async with person.client(auth=person.provider) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            total = await client.call_tool("add", {"a": 2, "b": 3})
            caller = await client.call_tool("caller", {})
            print(
                json.dumps(
                    {
                        "version": client.protocol_version,
                        "sum": total.content[0].text,
                        "caller": json.loads(caller.content[0].text),
                        "client_id": person.storage.client.client_id,
                        "scope": person.storage.tokens.scope,
                        "refresh": bool(person.storage.tokens.refresh_token),
                        "named": "SDK test" in person.page or bool(client_id),
                        "http": sorted(versions),
                    }
                )
            )


asyncio.run(main())
