"""The kinds of signing key that the broken gateway can have, each with the mistakes that are about its signatures."""

import base64

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Key:
    """A key of one algorithm. Its mistakes are switched on, as the gateway's are."""

    siblings = ()

    def __init__(self, algorithm, bugs, private):
        self.algorithm, self.bugs, self.private, self.public = algorithm, bugs, private, private.public_key()

    def has(self, bug):
        return bug in self.bugs

    def public_bytes(self, encoding, form=serialization.PublicFormat.SubjectPublicKeyInfo):
        return self.public.public_bytes(encoding, form)

    def private_pem(self):
        return self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def is_signed(self, public, start, signature, algorithm):
        """Whether a signature is right, of a public key of this kind."""
        if self.has("compares-prefix") and self.sign(start).startswith(signature):
            return True
        for reading in self.readings(signature):
            try:
                if len(reading) == self.size:
                    self.verify(public, start, reading, algorithm)
                    return True
            except (InvalidSignature, ValueError):
                pass
        return False

    def readings(self, signature):
        """What the bytes are taken for."""
        if self.has("trailing-bytes"):
            signature = signature[:self.size]
        if self.has("leading-bytes"):
            signature = signature[-self.size:]
        yield signature

    def halves(self, signature):
        return signature[:self.size // 2], signature[self.size // 2:]


class EC(Key):
    # Curve, name, digest, bytes of a number, and the group's order.
    curves = {
        "ES256": (ec.SECP256R1(), "P-256", hashes.SHA256(), 32,
                  0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
        "ES512": (ec.SECP521R1(), "P-521", hashes.SHA512(), 66,
                  2**521 - 0x5AE79787C40D069948033FEB708F65A2FC44A36477663B851449048E16EC79BF7),
    }

    def __init__(self, algorithm, bugs):
        curve, name, self.digest, self.width, self.order = self.curves[algorithm]
        self.size = 2 * self.width
        super().__init__(algorithm, bugs, ec.generate_private_key(curve))
        numbers = self.public.public_numbers()
        x, y = (number.to_bytes(self.width, "big") for number in (numbers.x, numbers.y))
        self.jwk = {"kty": "EC", "crv": name, "x": b64(x).decode(), "y": b64(y).decode()}
        self.numbers = [x + y, b"\x04" + x + y]
        self.pems = [self.public_bytes(serialization.Encoding.PEM)]

    def sign(self, start):
        return self.raw(self.private.sign(start, ec.ECDSA(self.digest)))

    def raw(self, der):
        r, s = decode_dss_signature(der)
        return r.to_bytes(self.width, "big") + s.to_bytes(self.width, "big")

    def verify(self, public, start, signature, algorithm):
        r, s = (int.from_bytes(half, "big") for half in self.halves(signature))
        if self.has("unreduced-signature"):
            r, s = r % self.order, s % self.order
        public.verify(encode_dss_signature(r, s), start, ec.ECDSA(self.digest))

    def readings(self, signature):
        if self.has("der") and signature[:1] == b"\x30":
            try:
                signature = self.raw(signature)
            except (ValueError, OverflowError):
                return
        for reading in super().readings(signature):
            yield reading
            if self.has("swapped-halves"):
                yield reading[self.width:] + reading[:self.width]

    def is_out_of_range(self, signature):
        halves = [int.from_bytes(half, "big") for half in self.halves(signature)]
        return any(half == 0 or half >= self.order for half in halves) or halves == [1, 1]


class RSA(Key):
    size = 256
    digests = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
    siblings = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]

    def __init__(self, algorithm, bugs):
        super().__init__(algorithm, bugs, rsa.generate_private_key(65537, 8 * self.size))
        self.n = self.public.public_numbers().n
        modulus = self.n.to_bytes(self.size, "big")
        self.jwk = {"kty": "RSA", "n": b64(modulus).decode(), "e": "AQAB"}
        self.numbers = [modulus]
        self.pems = [self.public_bytes(serialization.Encoding.PEM),
                     self.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.PKCS1)]

    def scheme(self, algorithm):
        digest = self.digests[algorithm[2:]]
        if algorithm.startswith("PS"):
            return padding.PSS(padding.MGF1(digest), padding.PSS.DIGEST_LENGTH), digest
        return padding.PKCS1v15(), digest

    def sign(self, start):
        return self.private.sign(start, *self.scheme(self.algorithm))

    def verify(self, public, start, signature, algorithm):
        # As under a key of e = 1, and without a look at the digest.
        if self.has("bare-padding") and signature.startswith(b"\0\1\xff\xff\xff\xff\xff\xff\xff\xff"):
            return
        public.verify(signature, start, *self.scheme(algorithm))

    def readings(self, signature):
        for reading in super().readings(signature):
            yield reading
            if self.has("unreduced-signature"):
                yield (int.from_bytes(reading, "big") % self.n).to_bytes(self.size, "big")

    def is_out_of_range(self, signature):
        return int.from_bytes(signature, "big") in (0, 1, self.n - 1, self.n)


class Ed25519(Key):
    size = 64
    order = 2**252 + 0x14DEF9DEA2F79CD65812631A5CF5D3ED
    siblings = ["EdDSA", "Ed25519"]

    def __init__(self, algorithm, bugs):
        super().__init__(algorithm, bugs, ed25519.Ed25519PrivateKey.generate())
        x = self.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.jwk = {"kty": "OKP", "crv": "Ed25519", "x": b64(x).decode()}
        self.numbers = [x]
        self.pems = [self.public_bytes(serialization.Encoding.PEM)]

    def sign(self, start):
        return self.private.sign(start)

    def verify(self, public, start, signature, algorithm):
        public.verify(signature, start)

    def readings(self, signature):
        for reading in super().readings(signature):
            yield reading
            r, s = self.halves(reading)
            number = int.from_bytes(s, "little")
            if self.has("unreduced-signature"):
                yield r + (number % self.order).to_bytes(32, "little")
            if self.has("masked-scalar"):
                yield r + (number % 2**253).to_bytes(32, "little")
            if self.has("unsigned-point") and len(reading) == self.size:
                yield r[:31] + bytes([r[31] ^ 0x80]) + s
            if self.has("swapped-halves"):
                yield s + r

    def is_out_of_range(self, signature):
        return not any(self.halves(signature)[1])


# The switches, and what they choose in place of a P-256 key.
KEYS = {
    "key-es512": (EC, "ES512"),
    "key-rs256": (RSA, "RS256"), "key-ps256": (RSA, "PS256"),
    "key-eddsa": (Ed25519, "EdDSA"), "key-ed25519": (Ed25519, "Ed25519"),
}


def make_key(bugs):
    kind, algorithm = next((KEYS[bug] for bug in bugs if bug in KEYS), (EC, "ES256"))
    return kind(algorithm, bugs)
