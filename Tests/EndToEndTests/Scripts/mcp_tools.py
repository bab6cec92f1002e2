"""The official SDK against the tools of the gateway's own Runtime: mcp_tools.py ORIGIN EMAIL PASSWORD MODE RELEASE.

Lists tools, calls some with progress, and, with sessions, calls one that takes until RELEASE is asked for, through
a proxy that cuts the connection once the call has begun, so that the SDK has to resume the stream. Prints one JSON object."""

import asyncio
import json
import sys
from urllib.parse import urlsplit
from urllib.request import urlopen

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_person import Person

origin, email, password, mode, release = sys.argv[1:6]
url = origin + "/mcp"


class CuttingProxy:
    """Passes bytes on. The first connection on which an event with the id of a call comes back is cut there."""

    def __init__(self):
        self.cuts = 0

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            there = urlsplit(origin)
            upstream_reader, upstream_writer = await asyncio.open_connection(there.hostname, there.port)
            await asyncio.gather(self.forward(reader, upstream_writer), self.back(upstream_reader, writer))
        except OSError:
            pass
        finally:
            writer.close()

    async def forward(self, reader, writer):
        seen = b""
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
            seen += data
            if self.cuts and b"last-event-id:" in seen.lower():
                seen = b""
                await asyncio.to_thread(urlopen, release)
        writer.close()

    async def back(self, reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
            if self.cuts == 0 and b"id: call." in data:
                self.cuts += 1
                break
        writer.close()


async def tell(client, found):
    progress = []

    async def note(done, total, message):
        progress.append(done)

    found["version"] = client.protocol_version
    found["tools"] = [tool.name for tool in (await client.list_tools()).tools]
    echoed = await client.call_tool("echo", {"hello": "world"}, progress_callback=note)
    found["echo"] = json.loads(echoed.content[0].text)
    found["structured"] = echoed.structured_content
    found["progress"] = progress
    put = await client.call_tool("artifact.put", {"name": "plan", "content": {"step": 1}})
    found["put"] = put.structured_content["version"]
    clash = await client.call_tool("artifact.put", {"name": "plan", "content": 2, "expected_version": 7})
    found["clash"] = [clash.is_error, clash.content[0].text.split(":")[0]]
    first = await client.call_tool("session.describe", {})
    second = await client.call_tool("session.describe", {})
    found["session"] = first.structured_content["session_id"]
    found["same"] = found["session"] == second.structured_content["session_id"]
    try:
        await client.call_tool("no.such", {})
    except Exception as error:
        found["unknown"] = getattr(error, "code", None) or error.error.code


async def main():
    found = {}
    person = Person(origin, email, password)
    await person.sign_in()
    async with person.client(auth=person.provider) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            await tell(client, found)
    found["token"] = person.storage.tokens.access_token
    if mode == "legacy":
        proxy = CuttingProxy()
        near = f"http://127.0.0.1:{await proxy.start()}/mcp"
        fields = {"Authorization": "Bearer " + found["token"]}
        async with person.client(headers=fields) as http:
            async with Client(streamable_http_client(near, http_client=http), mode=mode) as client:
                held = await client.call_tool("held", {})
                found["held"] = held.structured_content
        found["cuts"] = proxy.cuts
    print(json.dumps(found))


asyncio.run(main())
