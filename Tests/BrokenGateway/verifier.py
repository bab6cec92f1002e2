"""Verifies access tokens (RFC 9068) strictly, but for the mistakes that are switched on."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
import unicodedata
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from keys import b64, make_key

ISSUER = "https://broken.example"
# With a letter that has a twin, the Kelvin sign.
AUDIENCE = "broKen"
KID = "Key-a"
LETTERS = set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


class Refused(Exception):
    pass


def lenient_b64(text):
    text = bytes(byte for byte in text.replace(b"+", b"-").replace(b"/", b"_") if byte in LETTERS)
    if len(text) % 4 == 1:
        text = text[:-1]
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


class Verifier:
    def __init__(self, bugs):
        self.bugs = bugs
        self.key = make_key(bugs)
        self.ended = set()
        self.ended_texts = set()
        self.kids = set()
        self.issued = set()
        self.header = {"alg": self.key.algorithm, "typ": "at+jwt", "kid": KID}
        self.jwk = self.key.jwk | {"use": "sig", "alg": self.key.algorithm, "kid": KID}
        self.jwks = json.dumps({"keys": [self.jwk]}, separators=(",", ":")).encode()

    def has(self, bug):
        return bug in self.bugs

    def issue(self, user, family, lifetime, audience=AUDIENCE):
        now = int(time.time())
        # With both letters that another alphabet writes differently, so that every case about it fits.
        signature = b""
        while not (b"-" in signature and b"_" in signature):
            claims = {
                "iss": ISSUER, "sub": user, "aud": [audience], "exp": now + lifetime, "nbf": now - 5, "iat": now - 5,
                "jti": secrets.token_urlsafe(9), "client_id": "broken", "fid": family}
            start = b".".join(b64(json.dumps(part, separators=(",", ":")).encode()) for part in (self.header, claims))
            signature = b64(self.key.sign(start))
        token = start + b"." + signature
        self.issued.add(token)
        return token

    # Reading

    def decode(self, text):
        if self.has("padding"):
            text = text.replace(b"=", b"")
        if self.has("lenient-base64"):
            return lenient_b64(text)
        if not set(text) <= LETTERS or len(text) % 4 == 1:
            raise Refused("base64url")
        data = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
        if b64(data) != text:
            raise Refused("unused bits")
        return data

    def object(self, data, fallback):
        def pairs(members):
            if len({name for name, _ in members}) != len(members) and not self.has("duplicate-members"):
                raise Refused("duplicate member")
            return dict(members)

        def constant(_):
            raise Refused("constant")

        try:
            text = data.decode()
            if not self.has("deep-json") and self.depth(text) > 16:
                raise Refused("depth")
            value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
            if not isinstance(value, dict):
                raise Refused("no object")
            json.dumps(value, ensure_ascii=False).encode()
            return value
        except Refused:
            if self.has("bad-json"):
                return dict(fallback)
            raise
        except (ValueError, RecursionError) as error:
            if self.has("bad-json"):
                return dict(fallback)
            raise Refused("json") from error

    @staticmethod
    def depth(text):
        deepest = depth = 0
        for letter in re.sub(r'"(\\.|[^"\\])*"', "", text):
            depth += (letter in "[{") - (letter in "]}")
            deepest = max(deepest, depth)
        return deepest

    # Judging

    def verify(self, token, audiences=None):
        """The claims of a good token for one of the audiences, or for the gateway itself."""
        if self.has("accepts-everything") and token not in (b"",):
            return {"sub": "usr_one", "fid": "none", "exp": time.time() + 600}
        if self.has("accepts-empty") and token == b"":
            return {"sub": "usr_one", "fid": "none", "exp": time.time() + 600}
        if self.has("accepts-only-its-own") and token not in self.issued and b"\"x\"" not in token:
            if not self.is_plain(token):
                raise Refused("not its own")
        if len(token) > 8192 and not self.has("any-size"):
            raise Refused("size")
        parts = token.split(b".")
        if self.has("extra-segments"):
            parts = parts[:3]
        if self.has("missing-signature") and len(parts) == 2:
            parts.append(b"")
        if len(parts) != 3:
            raise Refused("segments")
        header_bytes, payload, signature = (self.decode(part) for part in parts)
        header = self.object(header_bytes, self.header)
        if not self.has("crit") and ("crit" in header or "b64" in header):
            raise Refused("crit")
        self.check_signature(header, parts[0] + b"." + parts[1], signature, parts)
        now = int(time.time())
        claims = self.object(payload, {
            "iss": ISSUER, "sub": "usr_one", "aud": [AUDIENCE], "exp": now + 60, "iat": now, "jti": "x",
            "client_id": "x", "fid": "none"})
        self.check_type(header)
        self.check_claims(claims, audiences or [AUDIENCE])
        if claims.get("fid") in self.ended or token.decode() in self.ended_texts:
            raise Refused("ended")
        return claims

    def is_plain(self, token):
        """Whether it is what this issuer itself could have written: its header, its names, nothing else."""
        try:
            header, claims = (json.loads(lenient_b64(part)) for part in token.split(b".")[:2])
        except ValueError:
            return False
        written = b64(json.dumps(self.header, separators=(",", ":")).encode())
        return (written == token.split(b".")[0] and "x" not in claims
                and isinstance(claims.get("aud"), list) and claims["aud"] == [AUDIENCE]
                and isinstance(claims.get("exp"), int))

    def check_type(self, header):
        if not self.has("nesting") and "cty" in header:
            raise Refused("cty")
        kind = header.get("typ")
        good = isinstance(kind, str) and kind.isascii() and kind.lower() in ("at+jwt", "application/at+jwt")
        if not good and not self.has("any-type"):
            raise Refused("typ")

    def check_signature(self, header, start, signature, parts):
        algorithm = header.get("alg")
        if self.has("alg-none") and algorithm == "none":
            return
        if self.has("alg-none-any-case") and isinstance(algorithm, str) and algorithm.lower().strip() == "none":
            return
        if self.has("alg-falsy") and not algorithm:
            return
        if self.has("no-signature-check"):
            return
        if self.has("empty-signature") and signature == b"":
            return
        if self.has("zero-signature") and not any(signature):
            return
        if self.has("psychic") and len(signature) == self.key.size and self.key.is_out_of_range(signature):
            return
        if isinstance(algorithm, str) and algorithm.startswith("HS"):
            if any(self.is_mac(secret, algorithm, start, signature) for secret in self.secrets(header)):
                return
        for jwk in self.embedded(header):
            if self.key.is_signed(jwk, start, signature, self.key.algorithm):
                return
        if self.has("fetches-keys"):
            for name in ("jku", "x5u"):
                self.fetch(header.get(name))
        if self.has("forgets-keys"):
            # A cache of sixty-four kids, known or not, out of which the known one falls.
            self.kids.add(str(header.get("kid")))
            if len(self.kids) > 64:
                raise Refused("no longer known")
        if not self.has("any-kid") and header.get("kid") != KID:
            raise Refused("kid")
        used = self.key.algorithm
        if self.has("algorithm-from-header") and algorithm in self.key.siblings:
            used = algorithm
        if not self.has("any-alg") and algorithm != used:
            raise Refused("alg")
        if not self.key.is_signed(self.key.public, start, signature, used):
            raise Refused("signature")

    def secrets(self, header):
        if self.has("hmac-pem"):
            for pem in self.key.pems:
                yield from (pem, pem.replace(b"\n", b"\r\n"), pem.rstrip(), b"\n" + pem, b" " + pem)
        if self.has("hmac-jwk"):
            members = {name: self.jwk[name] for name in self.jwk}
            yield self.jwks
            yield from (json.dumps(self.jwk, separators=(",", ":")).encode(),
                        json.dumps(dict(sorted(members.items())), separators=(",", ":")).encode())
        if self.has("hmac-numbers"):
            required = {name: self.jwk[name] for name in ("crv", "e", "kty", "n", "x", "y") if name in self.jwk}
            thumbprint = b64(hashlib.sha256(json.dumps(required, separators=(",", ":")).encode()).digest())
            yield from self.key.numbers
            yield from (self.key.public_bytes(serialization.Encoding.DER), thumbprint, KID.encode())
        if self.has("hmac-empty"):
            yield b""
        if self.has("kid-is-file"):
            name = str(header.get("kid")).replace("%2f", "/")
            if "dev/null" in name:
                yield b""
            elif name.startswith("/proc/sys/kernel/randomize_va_space"):
                yield b"2\n"
            elif "UNION SELECT 'x'" in name:
                yield b"x"
        embedded = header.get("jwk")
        if self.has("embedded-jwk") and isinstance(embedded, dict) and embedded.get("kty") == "oct":
            yield lenient_b64(str(embedded.get("k", "")).encode())

    @staticmethod
    def is_mac(secret, algorithm, start, signature):
        digest = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}.get(algorithm)
        return digest is not None and hmac.compare_digest(hmac.new(secret, start, digest).digest(), signature)

    def embedded(self, header):
        jwk = header.get("jwk")
        if self.has("embedded-jwk") and isinstance(jwk, dict) and jwk.get("kty") == "EC":
            x, y = (int.from_bytes(lenient_b64(str(jwk.get(name, "")).encode()), "big") for name in "xy")
            try:
                yield ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
            except ValueError:
                pass
        chain = header.get("x5c")
        if self.has("embedded-certificate") and isinstance(chain, list) and chain:
            from cryptography import x509
            yield x509.load_der_x509_certificate(base64.b64decode(chain[0])).public_key()

    @staticmethod
    def fetch(url):
        if isinstance(url, str) and url.startswith("http://127.0.0.1:"):
            try:
                urllib.request.urlopen(url, timeout=1).read()
            except OSError:
                pass

    # Claims

    def check_claims(self, claims, audiences):
        audience, issuer = claims.get("aud"), claims.get("iss")
        if self.has("audience-substring"):
            if AUDIENCE not in json.dumps(audience):
                raise Refused("aud")
        elif not self.has("any-audience"):
            names = [audience] if isinstance(audience, str) else audience
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise Refused("aud")
            if self.has("normalises-audience"):
                names = [unicodedata.normalize("NFC", name) for name in names]
            if not set(audiences) & set(names):
                raise Refused("aud")
        if self.has("issuer-substring"):
            if ISSUER not in json.dumps(issuer) and str(issuer) not in ISSUER:
                raise Refused("iss")
        elif issuer != ISSUER and not self.has("any-issuer"):
            raise Refused("iss")
        if not self.has("any-claims"):
            for name in ("sub", "client_id", "jti"):
                if not isinstance(claims.get(name), str) or not claims[name]:
                    raise Refused(name)
        self.check_dates(claims)

    def check_dates(self, claims):
        now = time.time()
        dates = {}
        for name in ("exp", "nbf", "iat"):
            value = claims.get(name)
            if name in claims:
                good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 2**53
                if not good and not self.has("odd-dates") and not (self.has("no-expiry") and name == "exp"):
                    raise Refused(name)
                if good:
                    dates[name] = value
            elif name != "nbf" and not self.has("odd-dates") and not (self.has("no-expiry") and name == "exp"):
                raise Refused(name)
        expiry = dates.get("exp", float("inf"))
        if not self.has("no-not-before"):
            if max(dates.get("nbf", 0), dates.get("iat", 0)) > now + 30:
                raise Refused("not yet")
            if dates.get("nbf", 0) > expiry or dates.get("iat", 0) > expiry:
                raise Refused("order")
        if not self.has("any-lifetime") and not self.has("no-expiry") and not self.has("odd-dates"):
            if expiry - dates.get("iat", now) > 3600:
                raise Refused("lifetime")
        if expiry <= now - 30 and not self.has("no-expiry"):
            raise Refused("expired")
