"""Signs in through an identity provider, opens a socket, logs out at the provider. `story.py PATH-OF-GATEHOUSE`"""

import asyncio
import http.cookiejar
import json
import pathlib
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import websockets

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent.parent))
from processes import listening, running, unused_ports  # noqa: E402

PERSON = "ada@example.com"


class Browser(urllib.request.HTTPRedirectHandler):
    """Keeps cookies, and follows no redirect by itself, so that each step can be shown."""

    def __init__(self):
        self.opener = urllib.request.build_opener(self, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def redirect_request(self, *_):
        return None

    def ask(self, method, url, form=None, **fields):
        data = urllib.parse.urlencode(form).encode() if form else None
        request = urllib.request.Request(url, data, {"Sec-Fetch-Site": "same-origin", **fields}, method=method)
        try:
            return self.opener.open(request, timeout=10)
        except urllib.error.HTTPError as answer:
            if answer.code == 303 or answer.code == 302:
                return answer
            raise SystemExit(f"{method} {url}: {answer.code} {answer.read(2000).decode(errors='replace')}")

    def goes_to(self, method, url, **more):
        return urllib.parse.urljoin(url, self.ask(method, url, **more).headers["Location"])

    def json(self, method, url):
        return json.load(self.ask(method, url))


async def main(binary):
    gate_port, provider_port, app_port = unused_ports(3)
    gate, provider = f"http://127.0.0.1:{gate_port}", f"http://127.0.0.1:{provider_port}"
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place, "gatehouse.yaml")
        file.write_text(f"""
server: {{listen: "127.0.0.1:{gate_port}", admin: off}}
state: {{url: "sqlite:{place}/gatehouse.sqlite"}}
keys: {{directory: "{place}/keys"}}
identity_providers:
  - {{name: mock, issuer: "{provider}", client_id: gatehouse, client_secret: secret, tenant: acme}}
routes:
  - {{path: /live, upstream: "http://127.0.0.1:{app_port}", require: token+session, websocket: true}}
""")
        with running(sys.executable, HERE / "provider.py", provider_port) as one, \
                running(sys.executable, HERE / "app.py", app_port) as two, \
                running(binary, "serve", "--config", file) as three:
            for port, process in [(provider_port, one), (app_port, two), (gate_port, three)]:
                await listening(port, process)
            await tell(gate, provider)


async def tell(gate, provider):
    browser = Browser()
    visitor = browser.json("POST", f"{gate}/api/session/create-anonymous")
    print(f"a visitor       {visitor['session_id'][:12]}… {visitor['state']}")

    at_provider = browser.goes_to("GET", f"{gate}/api/auth/login/mock?return_to=/")
    callback = browser.goes_to("POST", at_provider, form={"sub": PERSON})
    back = browser.goes_to("GET", callback)
    session = browser.json("GET", f"{gate}/api/session/current")
    print(f"signs in        at {provider}, and is back at {urllib.parse.urlsplit(back).path}")
    print(f"the same one    {session['session_id'][:12]}… {session['state']}, {session['user_id'][:12]}…")
    assert session["session_id"] == visitor["session_id"], "another session"

    token = browser.json("POST", f"{gate}/api/auth/refresh")["access_token"]
    fields = {"Authorization": f"Bearer {token}", "Session-Id": session["session_id"]}
    connecting = websockets.connect(gate.replace("http:", "ws:") + "/live", additional_headers=fields)
    async with connecting as live:
        await live.send("hello")
        print(f"a socket        through the gateway: hello -> {await live.recv()}")
        query = urllib.parse.urlencode(
            {"sub": PERSON, "client_id": "gatehouse", "to": f"{gate}/api/auth/backchannel/mock"})
        begun = time.monotonic()
        logout = asyncio.create_task(asyncio.to_thread(Browser().ask, "POST", f"{provider}/logout?{query}"))
        await asyncio.wait_for(live.wait_closed(), 10)
        elapsed = (time.monotonic() - begun) * 1000
        await logout
        print(f"logs out        at the provider: {elapsed:.0f} ms later the socket closed, {live.close_code} {live.close_reason}")
    assert live.close_code == 4403, "not for the end of the session"


# A parent that blocks signals would make the programs started here deaf to the one that ends them.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
asyncio.run(main(sys.argv[1]))
