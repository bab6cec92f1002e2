"""Writes a software bill of materials (CycloneDX 1.5, JSON) of a built binary.

    python3 sbom.py BINARY VERSION >gatehouse.cdx.json

The Swift packages are those of Package.resolved, with the commit that each was built from. The libraries of the system
are those that the binary names, with the versions that are installed where this runs.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import uuid


def said(*command):
    answer = subprocess.run(command, capture_output=True, text=True)
    return answer.stdout if answer.returncode == 0 else ""


def swift_packages(path):
    with open(path) as file:
        pins = json.load(file)["pins"]
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        state = pin["state"]
        version = state.get("version") or state.get("branch") or state["revision"]
        place = re.sub(r"^https://|\.git$", "", pin["location"])
        yield {
            "type": "library",
            "bom-ref": "swift:" + pin["identity"],
            "name": pin["identity"],
            "version": version,
            "purl": "pkg:swift/%s@%s" % (place, version),
            "externalReferences": [{"type": "vcs", "url": pin["location"]}],
            "properties": [{"name": "gatehouse:revision", "value": state["revision"]}],
        }


def owners(paths):
    """The packages that the files are from, by file. Files that no package has are left out."""
    lines = subprocess.run(["dpkg-query", "--search", *paths], capture_output=True, text=True).stdout.splitlines()
    return {path: owner.split(":")[0] for owner, _, path in (line.rpartition(": ") for line in lines)}


def system_libraries(binary):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "--dynamic", binary))
    places = dict(re.findall(r"^\s*(\S+) => (\S+)", said("ldd", binary), re.M))
    spellings = {name: [os.path.realpath(places[name]), places[name]] for name in needed if name in places}
    known = owners(sorted({path for paths in spellings.values() for path in paths}))
    packages = {}
    for name, paths in spellings.items():
        owner = next((known[path] for path in paths if path in known), None)
        if owner:
            packages.setdefault(owner, []).append(name)
    for package in sorted(packages):
        version, architecture = said(
            "dpkg-query", "--show", "--showformat=${Version}\t${Architecture}\n", package
        ).split("\n")[0].split("\t")
        yield {
            "type": "library",
            "bom-ref": "deb:" + package,
            "name": package,
            "version": version,
            "purl": "pkg:deb/debian/%s@%s?arch=%s" % (package, urllib.parse.quote(version, safe="~"), architecture),
            "properties": [{"name": "gatehouse:linked", "value": name} for name in sorted(packages[package])],
        }


def bill(binary, version, resolved):
    with open(binary, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    when = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    components = list(swift_packages(resolved)) + list(system_libraries(binary))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same binary has the same bill.
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, "gatehouse:" + digest)),
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)),
            "component": {
                "type": "application",
                "bom-ref": "gatehouse",
                "name": "gatehouse",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": components,
        "dependencies": [{"ref": "gatehouse", "dependsOn": [part["bom-ref"] for part in components]}],
    }


if __name__ == "__main__":
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    json.dump(bill(sys.argv[1], sys.argv[2], os.path.join(root, "Package.resolved")), sys.stdout, indent=2)
    print()
