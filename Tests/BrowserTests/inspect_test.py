"""The token inspector, in a real browser, against a running gateway.

    python3 Tests/BrowserTests/inspect_test.py URL EMAIL PASSWORD

The account must exist. Needs PyJWT with cryptography, as judge of the browser's verifications. Exits 0 when everything
is as told, 77 when there is no browser.
"""

import asyncio
import base64
import json
import sys
import time
import urllib.request

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from chromium import BINARY, Browser
from judges import judge, press, tab_to, window


def token_of(origin, email, password):
    request = urllib.request.Request(
        origin + "/api/auth/login", method="POST", headers={"Content-Type": "application/json"},
        data=json.dumps({"email": email, "password": password}).encode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["access_token"]


async def paste(tab, token):
    await tab.value(
        f"(() => {{ const t = document.getElementById('token'); t.value = {json.dumps(token)};"
        "t.dispatchEvent(new Event('input')); })()")


async def verdict(tab, token, words, tone):
    await paste(tab, token)
    await tab.shows("verdict", words)
    assert await tab.value("document.getElementById('verdict').dataset.tone") == tone


def altered(token):
    start = token.rindex(".") + 1
    return token[:start] + ("B" if token[start] == "A" else "A") + token[start + 1:]


async def judges_own_tokens(tab, token):
    await verdict(tab, token, "The signature is good", "good")
    assert json.loads(await tab.text("payload"))["client_id"] == "gatehouse"
    await tab.shows("times", "expires exp")
    # It was made for fifteen, and the browser has started since.
    await tab.until("/in 1[0-4] minutes/.test(document.getElementById('times').textContent)")
    await tab.shows("lints", "Nothing")
    await verdict(tab, altered(token), "not by a key of this gateway", "bad")
    await verdict(tab, jwt.encode({"sub": "a"}, None, algorithm="none"), "no signature", "bad")
    await tab.shows("lints", "is not signed")
    await verdict(tab, jwt.encode({"sub": "a"}, "x" * 32, algorithm="HS256"), "one secret", "warn")
    # What a browser has no algorithm for is said.
    header = base64.urlsafe_b64encode(b'{"alg":"ML-DSA-65","typ":"at+jwt"}').decode().rstrip("=")
    await verdict(tab, f"{header}.{token.split('.')[1]}.AAAA", "This browser has no ML-DSA-65", "warn")
    await verdict(tab, "not.a-token", "", "")
    await tab.shows("token-error", "2 parts")


ALGORITHMS = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()), "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ES512": lambda: ec.generate_private_key(ec.SECP521R1()), "EdDSA": ed25519.Ed25519PrivateKey.generate,
    **{name: lambda: rsa.generate_private_key(65537, 2048) for name in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]},
}


async def judges_foreign_tokens(tab):
    await tab.value("document.querySelector('input[value=pasted]').click()")
    for name, make in ALGORITHMS.items():
        key, other = make(), make()
        token = jwt.encode({"sub": "a", "exp": int(time.time()) + 60}, key, algorithm=name, headers={"kid": "k"})
        pem = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        algorithm = jwt.get_algorithm_by_name(name)
        jwk = {**json.loads(algorithm.to_jwk(key.public_key())), "kid": "k", "alg": name, "use": "sig"}
        wrong = {**json.loads(algorithm.to_jwk(other.public_key())), "kid": "k"}
        for text, words, tone in [
            (pem, "The signature is good", "good"), (json.dumps(jwk), "The signature is good", "good"),
            (json.dumps({"keys": [wrong, jwk]}), "The signature is good", "good"),
            (json.dumps(wrong), "not by a key you pasted", "bad"),
            (json.dumps({**jwk, "alg": "ES256K"}), "No key you pasted", "warn"),
            (json.dumps({**jwk, "kid": "other"}), "No key you pasted", "warn"),
        ]:
            await paste(tab, "")
            await tab.fill("key", text)
            await verdict(tab, token, words, tone)
        await verdict(tab, altered(token), "No key you pasted", "warn")  # the last key of the list above
        await tab.fill("key", pem)
        await verdict(tab, altered(token), "not by a key you pasted", "bad")
    for text, words in [
        (key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode(), "private"),
        (json.dumps({"kty": "EC", "d": "x"}), "private"), ("hello", "Neither"), ("{}", "kty"),
    ]:
        await tab.fill("key", text)
        await paste(tab, token)
        await tab.shows("key-error", words)


async def fits_a_phone(tab):
    """Also with a key id and a claim that are one long word."""
    key, kid = ec.generate_private_key(ec.SECP256R1()), "k" * 60
    jwk = {**json.loads(jwt.get_algorithm_by_name("ES256").to_jwk(key.public_key())), "kid": kid}
    await tab.value("document.querySelector('input[value=pasted]').click()")
    await tab.fill("key", json.dumps(jwk))
    await verdict(tab, jwt.encode({"sub": "s" * 90}, key, algorithm="ES256", headers={"kid": kid}), kid, "good")
    await window(360, "light")(tab)
    await judge(tab, "inspector with a token", 360)


async def is_readable(tab, token):
    """With a good token, and with one that has everything wrong."""
    for text, words, tone in [(token, "The signature is good", "good"), (jwt.encode({"sub": "a"}, None, algorithm="none"), "no signature", "bad")]:
        await verdict(tab, text, words, tone)
        for width in [360, 1280]:
            for scheme in ["light", "dark"]:
                await window(width, scheme)(tab)
                await judge(tab, f"inspector: {words}, at {width}, {scheme}", width, scheme)


async def works_by_keyboard(tab, token):
    """A token and the choice of keys, without a mouse."""
    await paste(tab, "")
    await tab.command("Page.bringToFront")
    await tab_to(tab, "document.activeElement.id === 'token'")
    await tab.command("Input.insertText", text=token)
    await tab.shows("verdict", "The signature is good")
    await tab_to(tab, "document.activeElement.value === 'gateway'")
    await press(tab, "ArrowDown")
    await tab.shows("verdict", "Paste the public key")
    await press(tab, "Tab")
    assert await tab.value("document.activeElement.id") == "key"


async def keeps_to_itself(tab, origin, secrets):
    """Nothing but the page's own files and the key set was asked for, and no token was in any request."""
    for url in ["https://example.com/", origin.replace("127.0.0.1", "localhost") + "/"]:
        assert await tab.value(f"fetch('{url}').then(() => 'went out', () => 'held')") == "held"
    await tab.tells(lambda: len(tab.faults) >= 2)
    held = [fault for fault in tab.faults if "connect-src" in fault or "Content Security Policy" in fault]
    assert len(held) == 2 == len(tab.faults), tab.faults
    urls = set()
    for request in tab.requests:
        text = json.dumps(request)
        url = request["request"]["url"]
        # What the policy held back was never sent; its address is told by the browser all the same.
        if url.startswith(origin):
            urls.add(url[len(origin):].split("#")[0])
        for secret in secrets:
            part = secret.split(".")[1]
            assert part not in json.dumps({**request["request"], "urlFragment": ""}), f"a token in {text}"
    assert urls <= {
        "/inspect", "/inspect.js", "/token-lints.js", "/.gatehouse/pages.css", "/favicon.svg", "/.well-known/jwks.json",
    }, urls


async def main(url, email, password):
    origin = url.rstrip("/")
    token = token_of(origin, email, password)
    async with Browser() as browser:
        tab = await browser.tab(origin + "/inspect")
        await tab.until("document.readyState == 'complete'")
        await judges_own_tokens(tab, token)
        await judges_foreign_tokens(tab)
        await keeps_to_itself(tab, origin, [token])
        # The link: the token stands behind '#', which is never sent.
        linked = await browser.tab(f"{origin}/inspect#{token}")
        await linked.shows("verdict", "The signature is good")
        assert linked.errors == [], linked.errors
        await is_readable(linked, token)
        await works_by_keyboard(linked, token)
        await fits_a_phone(linked)
        await keeps_to_itself(linked, origin, [token])
    print("inspector: all is well")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if BINARY is None:
        print("no chromium: skipped", file=sys.stderr)
        sys.exit(77)
    asyncio.run(main(*sys.argv[1:]))
