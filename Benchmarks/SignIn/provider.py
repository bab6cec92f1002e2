#!/usr/bin/env python3
"""A small identity provider for the benchmark: `provider.py PORT`. It hands out an ID token for every code; the code
says the nonce and the person, because the generator plays the browser and the sign-in page alike."""

import asyncio
import base64
import json
import sys
import time
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Provider:
    def __init__(self, port):
        self.issuer = f"http://127.0.0.1:{port}"
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.header = encode(b'{"alg":"ES256","kid":"one"}')

    def discovery(self):
        return {
            "issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize",
            "token_endpoint": self.issuer + "/token", "jwks_uri": self.issuer + "/jwks",
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"],
        }

    def keys(self):
        point = self.key.public_key().public_numbers()
        return {"keys": [{
            "kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig",
            "x": encode(point.x.to_bytes(32, "big")).decode(), "y": encode(point.y.to_bytes(32, "big")).decode(),
        }]}

    def tokens(self, body):
        nonce, person = parse_qs(body)["code"][0].split(".")
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": "gate", "sub": person, "iat": now, "exp": now + 300, "nonce": nonce,
            "email": f"{person}@example.com", "email_verified": True,
        }
        signed = self.header + b"." + encode(json.dumps(claims).encode())
        r, s = decode_dss_signature(self.key.sign(signed, ec.ECDSA(hashes.SHA256())))
        token = signed + b"." + encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return {"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": token.decode()}

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = [line for line in head.split("\r\n") if line.lower().startswith("content-length:")]
                body = (await reader.readexactly(int(length[0].split(":")[1]))).decode() if length else ""
                path = head.split(" ")[1]
                answer = self.tokens(body) if path == "/token" else self.keys() if path == "/jwks" else self.discovery()
                text = json.dumps(answer).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main():
    port = int(sys.argv[1])
    server = await asyncio.start_server(Provider(port).serve, "127.0.0.1", port, backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
