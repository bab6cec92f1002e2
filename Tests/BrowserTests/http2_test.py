"""WebSockets of a real browser over HTTP/2, against a running gateway with TLS.

    python3 Tests/BrowserTests/http2_test.py URL EMAIL PASSWORD

The account must exist; the certificate need not be trusted. Exits 0 when everything is as told, 77 when there is no
browser.
"""

import asyncio
import json
import sys

from chromium import BINARY, Browser

# Opens a socket and says what becomes of it before it is open.
OPEN = """
const open = (path, user) => new Promise(resolve => {
    const socket = new WebSocket(`wss://${location.host}${path}`,
        user ? ['gatehouse.v1', 'bearer.' + user.access_token, 'session.' + user.session_id] : []);
    socket.onopen = () => resolve(socket);
    socket.onclose = event => resolve(event.code);
});
const post = (path, body, user) => fetch(path, {
    method: 'POST', body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', ...(user ? {Authorization: 'Bearer ' + user.access_token} : {})},
});
"""


async def main(url, email, password):
    async with Browser("--ignore-certificate-errors") as browser:
        tab = await browser.tab(url)
        await tab.until("document.readyState === 'complete'")
        assert await tab.value("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
        login = json.dumps({"email": email, "password": password})
        lived = await tab.value("(async () => {" + OPEN + f"""
            const user = await (await post('/api/auth/login', {login})).json();
            const socket = await open('/api/runtime/echo', user);
            const echo = new Promise(resolve => socket.onmessage = event => resolve(event.data));
            socket.send('over h2');
            const told = await echo;
            const closed = new Promise(resolve => socket.onclose = event => resolve(event.code + ' ' + event.reason));
            const logout = await post('/api/auth/logout', {{}}, user);
            return [socket.protocol, told, logout.status, await closed, await open('/api/runtime/echo', user)];
        }})()""")
        assert lived == ["gatehouse.v1", "over h2", 204, "4403 session_ended", 1006], lived
        await tab.tells(lambda: tab.handshakes)
        assert tab.handshakes[:1] == [200], f"not over HTTP/2: {tab.handshakes}"
        # Without credentials, and where there is no WebSocket at all, none opens.
        refused = await tab.value(
            "(async () => {" + OPEN + "return [await open('/api/runtime/agent'), await open('/gatehouse.js')]; })()")
        assert refused == [1006, 1006], refused
    print("sockets over http/2: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
