"""A Model Context Protocol server with the official SDK: server.py PORT. It has no code for authorization."""

import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("tools")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def caller(ctx: Context) -> dict[str, str]:
    """The fields that the gateway adds, and whether a token came through."""
    headers = ctx.request_context.request.headers
    names = ["x-gatehouse-user", "x-gatehouse-tenant", "x-gatehouse-scope", "x-gatehouse-client"]
    found = {name: headers.get(name, "") for name in names}
    found["authorization"] = headers.get("authorization", "")
    found["assertion"] = "yes" if headers.get("x-gatehouse-assertion") else ""
    return found


uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
