"""A WebSocket application that knows nothing of the gateway: it sends every message back. `app.py PORT`"""

import asyncio
import sys

import websockets


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def main(port):
    async with websockets.serve(echo, "127.0.0.1", port):
        await asyncio.Future()


asyncio.run(main(int(sys.argv[1])))
