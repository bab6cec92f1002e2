#!/usr/bin/env python3
"""Judges the same mutated tokens with gatehouse, PyJWT, joserfc and jwcrypto, and fails if gatehouse accepts one that
two of them refuse.

    tokens.py [--count 100000] [--seed 1] [GATEHOUSE]

Needs `pip install pyjwt[crypto] joserfc jwcrypto`. The last result is in result.txt beside this file; `--write` writes
it anew. All four look at the signature and the header only: claims are everybody's own policy.
"""

import argparse
import base64
import collections
import json
import random
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

import joserfc.jwk
import joserfc.jws
import jwcrypto.jwk
import jwcrypto.jws
import jwt
from jwt.api_jws import PyJWS

warnings.simplefilter("ignore")
HERE = Path(__file__).resolve().parent
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Signer:
    """One key, and what each library makes of it."""

    def __init__(self, algorithm, **parameters):
        self.algorithm = algorithm
        self.key = jwcrypto.jwk.JWK.generate(use="sig", alg=algorithm, kid="k", **parameters)
        self.public = self.key.export(private_key=parameters["kty"] == "oct")
        self.checker = jwt.get_algorithm_by_name(algorithm)
        self.secret = self.checker.from_jwk(self.key.export())
        fields = json.loads(self.public)
        self.pyjwt_key = self.checker.from_jwk(fields)
        self.joserfc_key = joserfc.jwk.JWKRegistry.import_key(fields)
        self.jwcrypto_key = jwcrypto.jwk.JWK.from_json(self.public)

    def sign(self, text):
        return self.checker.sign(text, self.secret)

    def token(self, header, payload):
        text = encode(header) + b"." + encode(payload)
        return text + b"." + encode(self.sign(text))

    def pyjwt(self, token):
        PyJWS().decode_complete(token, self.pyjwt_key, algorithms=[self.algorithm])

    def joserfc(self, token):
        joserfc.jws.deserialize_compact(token, self.joserfc_key, algorithms=[self.algorithm])

    def jwcrypto(self, token):
        parsed = jwcrypto.jws.JWS()
        parsed.allowed_algs = [self.algorithm]
        parsed.deserialize(token.decode("utf-8"), self.jwcrypto_key)


def signers():
    return [
        Signer("ES256", kty="EC", crv="P-256"), Signer("RS256", kty="RSA", size=2048),
        Signer("PS256", kty="RSA", size=2048), Signer("EdDSA", kty="OKP", crv="Ed25519"),
        Signer("HS256", kty="oct", size=256), Signer("ES512", kty="EC", crv="P-521"),
    ]


def odd_headers(algorithm):
    name = algorithm.encode()
    return [
        b'{"alg":"%s"}' % name, b'{"alg":"%s","kid":"k","typ":"at+jwt"}' % name, b' {"alg" : "%s"} ' % name,
        b'{"alg":"none"}', b'{"alg":"None"}', b'{"alg":null}', b'{"alg":["%s"]}' % name, b"{}", b"[]", b'"x"', b"",
        b'{"alg":"%s"}' % name.lower(), b'{"alg":"%s "}' % name, b'{"\\u0061lg":"%s"}' % name,
        b'{"alg":"none","alg":"%s"}' % name, b'{"alg":"%s","alg":"none"}' % name,
        b'{"alg":"%s","crit":["exp"],"exp":1}' % name, b'{"alg":"%s","crit":[]}' % name,
        b'{"alg":"%s","crit":["b64"],"b64":true}' % name, b'{"alg":"%s","crit":["b64"],"b64":false}' % name,
        b'{"alg":"%s","b64":false}' % name, b'{"alg":"%s","crit":"x"}' % name, b'{"alg":"%s","kid":1}' % name,
        b'{"alg":"%s","x":1e400}' % name, b'{"alg":"%s","x":NaN}' % name, b'{"alg":"%s","x":"\\ud800"}' % name,
        b'{"alg":"%s","x":"\xff"}' % name, b'{"alg":"%s",}' % name, b'{"alg":"%s"}{}' % name,
        b'\xef\xbb\xbf{"alg":"%s"}' % name, b'{"alg":"%s","typ":7}' % name, b'{"alg":"%s","zip":"DEF"}' % name,
        b'{"alg":"HS256"}', b'{"alg":"ES256"}', b'{"alg":"RS256"}', b'{"alg":"PS256"}', b'{"alg":"EdDSA"}',
        b'{"alg":"%s","jku":"http://127.0.0.1:1/","jwk":{"kty":"oct","k":"AA"},"x5c":["AA"]}' % name,
    ]


PAYLOADS = [b'{"sub":"a","exp":9999999999}', b"{}", b"", b"text", b"[]", b'{"a":1,"a":2}', b"\xff\xfe", b'{"x":"' + b"y" * 300 + b'"}']


def mutate(token, random_):
    """One small change of the text, without line feeds: the verdicts come line by line."""
    place = random_.randrange(len(token) + 1)
    letter = bytes([random_.choice(ALPHABET)])
    kind = random_.randrange(14)
    if kind == 0:
        return token[:place] + letter + token[place + 1:]
    if kind == 1:
        return token[:place] + letter + token[place:]
    if kind == 2:
        return token[:place] + token[place + 1:]
    if kind == 3:
        return token[:place] + random_.choice([b"=", b"+", b"/", b" ", b"\r", b"\t", b"\0", b".", b"?", b"\xc3\xa9"]) + token[place:]
    if kind == 4:
        return token + random_.choice([b"=", b"==", b".", b"A", b" ", b"\0"])
    segments = token.split(b".")
    which = random_.randrange(len(segments))
    if kind == 5 and segments[which]:
        # The twin: other unused bits in the last letter.
        index = ALPHABET.find(segments[which][-1:])
        segments[which] = segments[which][:-1] + bytes([ALPHABET[(index ^ random_.choice([1, 2, 3])) % 64]])
    elif kind == 6:
        segments[which] = b""
    elif kind == 7:
        random_.shuffle(segments)
    elif kind == 8:
        segments[which] = segments[which][: random_.randrange(len(segments[which]) + 1)]
    elif kind == 9:
        segments = segments[: random_.randrange(4)] + [b"AA"] * random_.randrange(3)
    elif kind == 10 and len(segments) == 3:
        try:
            raw = base64.urlsafe_b64decode(segments[2] + b"=" * (-len(segments[2]) % 4))
        except ValueError:
            raw = b""
        half = len(raw) // 2
        segments[2] = encode(random_.choice([
            raw[::-1], raw + b"\0", b"\0" + raw, b"\0" * len(raw), b"\xff" * len(raw), raw[half:] + raw[:half], raw[1:],
            b"\x30\x44\x02\x20" + raw[:half] + b"\x02\x20" + raw[half:], raw[:half] + b"\0" * half, raw * 2]))
    elif kind == 11:
        segments[which] = segments[which].swapcase()
    elif kind == 12:
        segments[which] = segments[which] + b"=" * (-len(segments[which]) % 4)
    else:
        start, end = sorted(random_.randrange(len(token) + 1) for _ in range(2))
        return token[:start] + token[end:]
    return b".".join(segments)


def tokens(signer, count, random_):
    headers = odd_headers(signer.algorithm)
    signed = [signer.token(header, payload) for header in headers for payload in PAYLOADS]
    yield from signed
    plain = [signer.token(header, payload) for header in headers[:2] for payload in PAYLOADS]
    # Signed correctly over text that is odd in itself.
    for token in plain:
        text = token.rsplit(b".", 1)[0]
        for odd in (text + b"=", text.replace(b".", b" ."), text.replace(b".", b".\r"), text + b"\0", b" " + text, text + b"A"):
            yield odd + b"." + encode(signer.sign(odd))
    for number in range(count - len(signed) - 6 * len(plain)):
        token = random_.choice(plain if number % 4 else signed)
        for _ in range(random_.choice([0, 1, 1, 1, 2, 3])):
            token = mutate(token, random_)
        yield token.replace(b"\n", b"")


def accepts(verify, token):
    try:
        verify(token)
    except Exception:
        return False
    return True


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("gatehouse", nargs="?", default=HERE.parent.parent / ".build/debug/gatehouse")
    arguments.add_argument("--count", type=int, default=102_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--write", action="store_true", help="keep the result")
    options = arguments.parse_args()
    random_ = random.Random(options.seed)
    libraries = ("pyjwt", "joserfc", "jwcrypto")
    counts = collections.Counter()
    alone = []
    keys = signers()
    with tempfile.TemporaryDirectory() as directory:
        for signer in keys:
            path = Path(directory) / "key.jwk"
            path.write_text(signer.public)
            batch = list(tokens(signer, options.count // len(keys), random_))
            answer = subprocess.run(
                [options.gatehouse, "token", "verify", "--signature-only", "--lines", "--key", path],
                input=b"".join(token + b"\n" for token in batch), capture_output=True)
            verdicts = answer.stdout.decode().splitlines()
            assert answer.returncode == 1 and len(verdicts) == len(batch), answer.stderr
            for token, verdict in zip(batch, verdicts):
                ours = verdict == "verified"
                theirs = [name for name in libraries if accepts(getattr(signer, name), token)]
                counts["tokens"] += 1
                counts["gatehouse accepts"] += ours
                for name in theirs:
                    counts[f"{name} accepts"] += 1
                counts["gatehouse refuses what all three accept"] += not ours and len(theirs) == 3
                counts["gatehouse accepts what one refuses"] += ours and len(theirs) == 2
                if ours and len(theirs) < 2:
                    alone.append((signer.algorithm, token, theirs))
    versions = ", ".join(f"{name} {version(name)}" for name in ("PyJWT", "joserfc", "jwcrypto"))
    lines = [f"seed {options.seed}; {versions}; {', '.join(signer.algorithm for signer in keys)}"]
    lines += [f"{counts[name]:>7}  {name}" for name in (
        "tokens", "gatehouse accepts", *(f"{name} accepts" for name in libraries),
        "gatehouse accepts what one refuses", "gatehouse refuses what all three accept")]
    lines.append(f"{len(alone):>7}  gatehouse accepts and two of them refuse")
    print("\n".join(lines))
    for algorithm, token, theirs in alone[:20]:
        print(algorithm, token, "accepted by", theirs or "no other", file=sys.stderr)
    if options.write:
        (HERE / "result.txt").write_text("\n".join(lines) + "\n")
    sys.exit(bool(alone))


if __name__ == "__main__":
    main()
