"""The operator of the soak: asks a gateway's admin listener, and reloads its configuration all the time."""

import asyncio

from oracle import BUSY
from wire import Answer, Limit, Lost

# Seconds between two reloads of a node.
PAUSE = 5


class Admin:
    """The admin listener of a gateway, a Unix socket. Each answer closes its connection."""

    def __init__(self, gateway):
        self.name, self.path = gateway.name, gateway.admin

    async def ask(self, method, path, timeout=15):
        """One request without a body. Throws `Lost` where no answer comes."""
        try:
            async with Limit(timeout):
                reader, writer = await asyncio.open_unix_connection(str(self.path))
                try:
                    # HTTP/1.0, so that the end of the connection is the end of the answer.
                    length = "" if method == "DELETE" else "Content-Length: 0\r\n"
                    writer.write(f"{method} {path} HTTP/1.0\r\nHost: localhost\r\n{length}\r\n".encode())
                    answer = await reader.read()
                finally:
                    writer.transport.abort()
            head, _, body = answer.partition(b"\r\n\r\n")
            return Answer(int(head[9:12]), body)
        except (OSError, EOFError, asyncio.TimeoutError, ValueError) as error:
            raise Lost(f"{method} {path} at the admin listener of {self.name}: {type(error).__name__}") from error


class Reloader:
    """Adds a route to a gateway's configuration and takes it away again, for as long as the soak runs. What goes on
    meanwhile must not notice it; each reload must be done, and count for the next request."""

    def __init__(self, oracle, gateway, node):
        """`node` has connections of its own."""
        self.oracle, self.gateway, self.node, self.admin = oracle, gateway, node, Admin(gateway)

    async def run(self):
        has_route = False
        while True:
            await asyncio.sleep(PAUSE)
            has_route = not has_route
            self.gateway.write_config(has_route)
            try:
                await self.reload(has_route)
            except Lost as error:
                self.oracle.counts["reload: no answer"] += 1
                # A node that is stopped, killed or without descriptors can't be asked.
                if not self.oracle.is_disturbed:
                    self.oracle.fault(f"a reload of {self.gateway.name} was not answered: {error}")

    async def reload(self, has_route):
        answer = await self.admin.ask("POST", "/reload", timeout=30)
        text = answer.body.decode("latin-1").strip()
        # Anything more it says names keys that need a restart, of which none has changed.
        if answer.status != 200 or text != "reloaded":
            return self.oracle.fault(f"a reload of {self.gateway.name} failed: {answer.status} {text[:200]}")
        self.oracle.counts[f"reload of {self.gateway.name}"] += 1
        seen = await self.use_route()
        if seen.status in BUSY:
            return self.oracle.busy("the route of a reload", seen.status, seen.code)
        if seen.status != (200 if has_route else 404):
            self.oracle.fault(
                f"after a reload that {'adds' if has_route else 'takes away'} a route, {self.gateway.name} answers "
                f"{seen.status} {seen.code} there")

    async def use_route(self):
        try:
            return await self.node.ask("GET", "/reloaded/x")
        except Lost:
            # The connection is older than the node, where that was killed.
            self.node.forget()
            return await self.node.ask("GET", "/reloaded/x")
