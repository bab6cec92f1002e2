#!/usr/bin/env python3
"""Browsers that sign in: `sign-ins.py PORT RATE SECONDS`. Each goes to the provider and comes back, on a new session, at
the time when it is due; prints how many did and how long it took from then on, as JSON."""

import asyncio
import json
import sys
import time
from urllib.parse import parse_qs, urlsplit

BROWSERS = 32
PEOPLE = 1000


class Browser:
    def __init__(self, port):
        self.port = port
        self.reader = self.writer = None

    async def get(self, path, cookie=""):
        if self.writer is None or self.writer.is_closing():
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        field = f"Cookie: {cookie}\r\n" if cookie else ""
        self.writer.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nSec-Fetch-Mode: navigate\r\n{field}\r\n".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = [line.split(": ", 1) for line in head[1:] if line]
        length = next((int(value) for name, value in fields if name.lower() == "content-length"), 0)
        if length:
            await self.reader.readexactly(length)
        return head[0].split(" ")[1], fields

    async def sign_in(self, number):
        status, fields = await self.get("/api/auth/login/bench")
        if status != "303":
            return False
        cookie = next(value.split(";")[0] for name, value in fields if name.lower() == "set-cookie")
        there = parse_qs(urlsplit(next(value for name, value in fields if name.lower() == "location")).query)
        code = f"{there['nonce'][0]}.person-{number % PEOPLE}"
        status, fields = await self.get(f"/api/auth/callback/bench?code={code}&state={there['state'][0]}", cookie)
        return status == "303" and ("location", "/") in [(name.lower(), value) for name, value in fields]


async def main():
    port, rate, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    due, times, failed, start = iter(range(int(rate * seconds))), [], 0, time.monotonic()

    async def work(browser):
        nonlocal failed
        for number in due:
            at = start + number / rate
            await asyncio.sleep(max(0, at - time.monotonic()))
            if await browser.sign_in(number):
                times.append((time.monotonic() - at) * 1000)
            else:
                failed += 1

    await asyncio.gather(*(work(Browser(port)) for _ in range(BROWSERS)))
    spent = time.monotonic() - start
    times.sort()
    print(json.dumps({
        "rate": len(times) / spent, "failed": failed, "p50": times[len(times) // 2] if times else 0,
        "p99": times[len(times) * 99 // 100] if times else 0,
    }))


asyncio.run(main())
