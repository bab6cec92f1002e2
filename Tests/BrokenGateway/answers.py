"""Answers of the broken gateway."""

import base64
import hashlib
import json


class Answer(Exception):
    """An answer that ends what is being done."""

    cache = "no-store"

    def __init__(self, status, body=None, fields=(), closes=False):
        super().__init__(status)
        self.status, self.body, self.fields, self.closes = status, body, list(fields), closes

    def bytes(self):
        content = b"" if self.body is None else self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        lines = [f"HTTP/1.1 {self.status} X", f"Content-Length: {len(content)}", "Content-Type: application/json"]
        lines.append(f"Cache-Control: {self.cache}")
        lines += [f"{name}: {value}" for name, value in self.fields]
        if self.closes:
            lines.append("Connection: close")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def accept_key(key):
    return base64.b64encode(hashlib.sha1(key.encode("latin-1") + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
