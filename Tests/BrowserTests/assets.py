"""The files of the pages, by the path that they are served at, read where the gateway lists them."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Sources/Web/Assets"
_SWIFT = (ROOT / "Sources/Web/WebAssets.swift").read_text()
_TYPES = {"page": "text/html; charset=utf-8", "script": "text/javascript; charset=utf-8",
          "style": "text/css; charset=utf-8", "image": "image/svg+xml"}


def _list(name):
    start = _SWIFT.index(f"static let {name}:")
    found = re.findall(r'path: ("[^"]+"|\w+), contentType: (\w+), bytes: PackageResources\.(\w+)\)', _SWIFT[start:_SWIFT.index("\n    ]", start)])
    files = {}
    for path, kind, resource in found:
        path = path.strip('"') if path.startswith('"') else re.search(rf'let {path} = "([^"]+)"', _SWIFT)[1]
        stem, _, ending = resource.rpartition("_")
        files[path] = (_TYPES[kind], FOLDER / f"{stem.replace('_', '-')}.{ending}")
    return files


#: Path → (content type, file).
PUBLIC = _list("all")
ADMIN = _list("admin")

_start = _SWIFT.index('"Content-Security-Policy",') + 26
#: The Content-Security-Policy of every page.
POLICY = "".join(re.findall(r'"([^"]*)"', _SWIFT[_start:_SWIFT.index('("X-Content-Type', _start)]))
