"""PNGs of 256 colours: what pictures of pages need, in a third of the bytes."""

import collections
import struct
import zlib


def _pixels(png):
    """Width, height and the RGB bytes of a PNG of 8 bits a channel, with or without alpha (RFC 2083 section 6)."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[:10])
        elif kind == b"IDAT":
            packed += data
        at += 12 + length
    assert depth == 8 and colour in (2, 6)
    size = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(packed), width * size
    before, rows = bytearray(stride), []
    for y in range(height):
        start = y * (stride + 1)
        method, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for x in range(stride) if method else ():
            left = line[x - size] if x >= size else 0
            up, corner = before[x], before[x - size] if x >= size else 0
            if method == 1:
                line[x] = (line[x] + left) & 255
            elif method == 2:
                line[x] = (line[x] + up) & 255
            elif method == 3:
                line[x] = (line[x] + (left + up) // 2) & 255
            else:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                line[x] = (line[x] + near[2]) & 255
        rows.append(bytes(line))
        before = line
    return width, height, size, rows


def indexed(png):
    """The same picture with the 256 most common colours; every other becomes the nearest of them."""
    width, height, size, rows = _pixels(png)
    lines = [[row[x:x + 3] for x in range(0, width * size, size)] for row in rows]
    counts = collections.Counter(colour for line in lines for colour in line)
    palette = [colour for colour, _ in counts.most_common(256)]
    number = {colour: i for i, colour in enumerate(palette)}
    for colour in counts:
        if colour not in number:
            number[colour] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    data = b"".join(b"\0" + bytes(number[colour] for colour in line) for line in lines)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))
