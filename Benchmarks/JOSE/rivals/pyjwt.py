"""PyJWT on cryptography: `pyjwt.py ALG OPERATION PRIVATE.pem PUBLIC.pem TOKEN CLAIMS COUNT`, as libjwt.c."""

import json
import sys
import time
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

_, algorithm, operation, private, public, token, claims, count = sys.argv
private_key = load_pem_private_key(Path(private).read_bytes(), None)
public_key = load_pem_public_key(Path(public).read_bytes())
text = Path(token).read_text()
payload = json.loads(Path(claims).read_text())
checker = jwt.PyJWT()


def verify():
    return checker.decode(
        text, public_key, algorithms=[algorithm], audience="gatehouse", issuer="https://gate.example.com", leeway=30
    )


def sign():
    return checker.encode(payload, private_key, algorithm=algorithm)


run = {"verify": verify, "sign": sign}[operation]
run()
if int(count):
    for _ in range(int(count)):
        run()
    sys.exit()
start = now = time.process_time()
done = 0
while now - start < 1:
    for _ in range(50):
        run()
    done += 50
    now = time.process_time()
print(round(done / (now - start)))
