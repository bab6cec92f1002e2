"""What the stories of the examples need to start programs on this machine, and to end them."""

import asyncio
import contextlib
import os
import random
import socket
import subprocess
import uuid


def unused_ports(count):
    """Ports below those that the system gives to others by itself: they stay unused until they are needed."""
    ports = set()
    while len(ports) < count:
        port = random.randrange(12_000, 30_000)
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            ports.add(port)
    return list(ports)


def log(command):
    """Where a program writes: a file for a gateway, where the tests of this repository name a folder; else nowhere."""
    folder = os.environ.get("GATEHOUSE_TEST_OUTPUTS")
    if folder is None or "serve" not in command:
        return open(os.devnull, "wb")
    os.makedirs(folder, exist_ok=True)
    return open(os.path.join(folder, f"{uuid.uuid4()}.script.log"), "wb")


@contextlib.contextmanager
def running(*command):
    with log(command) as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


async def listening(port, process):
    for _ in range(2400):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            break
        await asyncio.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}: {' '.join(process.args)}")
