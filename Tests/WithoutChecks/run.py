"""Shows that the attacks on signing in would succeed without the check that each is about.

    python3 Tests/WithoutChecks/run.py [CHECK…]

Makes a copy of the sources in `.build/without-checks` in which each check of the table below is skipped if
WITHOUT_CHECK names it, and builds it once. In that build the tests that attack a check have to pass while it is
there, and to fail in the way of an attack that succeeded while it is not.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY = ROOT / ".build" / "without-checks"
LOGIN = "Sources/IdentityProviders/Login"

# What says in the copy whether a check is skipped.
SWITCH = ("Sources/IdentityProviders/Without.swift", """import Foundation

enum Without {
    static func check(_ name: String) -> Bool {
        let names = ProcessInfo.processInfo.environment["WITHOUT_CHECK"] ?? ""
        return names.split(separator: ",").contains { $0 == name }
    }
}
""")

# Code as it is, and as it is in the copy. Each has to be found exactly once.
EDITS = [
    # Binding to browser, session and secret, and the nonce and verifier that are made of the secret.
    (f"{LOGIN}/PendingLogin.swift",
     "guard let session, session.sessionID.hasSameBytes(as: sessionID) else { return .failure(.otherBrowser) }",
     'guard let session, Without.check("browser") || session.sessionID.hasSameBytes(as: sessionID) else {\n'
     "            return .failure(.otherBrowser)\n        }"),
    (f"{LOGIN}/PendingLogin.swift",
     "guard session.epoch == sessionEpoch else",
     'guard Without.check("browser") || Without.check("rotation") || session.epoch == sessionEpoch else'),
    (f"{LOGIN}/LoginSecrets.swift",
     r'let message = "gatehouse \(purpose)\n\(session.sessionID)\n\(session.epoch)\n\(state)"',
     'if Without.check("browser") || Without.check("rotation") {\n'
     r'            return Base64URL.encode(Digest.sha256("\(purpose) \(state)".utf8))' "\n        }\n        "
     r'let message = "gatehouse \(purpose)\n\(session.sessionID)\n\(session.epoch)\n\(state)"'),
    # Mix-up: whose state it is, and whose response.
    (f"{LOGIN}/PendingLogin.swift",
     "guard self.provider.hasSameBytes(as: provider.name), issuer.hasSameBytes(as: provider.issuer) else {",
     'guard Without.check("provider")\n'
     "            || (self.provider.hasSameBytes(as: provider.name) && issuer.hasSameBytes(as: provider.issuer))\n"
     "        else {"),
    (f"{LOGIN}/AuthorizationResponse.swift",
     "case let said? where !said.hasSameBytes(as: issuer):",
     'case let said? where !Without.check("iss") && !said.hasSameBytes(as: issuer):'),
    # Open redirect.
    (f"{LOGIN}/ReturnTo.swift",
     "guard bytes.count <= Self.maximumBytes, bytes.first ==",
     'if Without.check("return_to") {\n            self.text = text\n            return\n        }\n'
     "        guard bytes.count <= Self.maximumBytes, bytes.first =="),
    # An ID token of another sign-in.
    ("Sources/IdentityProviders/Tokens/IDTokenRules.swift",
     "guard let nonce else { return nil }",
     'guard let nonce, !Without.check("nonce") else { return nil }'),
]

# Check, the attack, the tests that try it, and what they say when it has succeeded.
CHECKS = {
    "browser": ("login CSRF: a victim's browser finishes what the attacker began",
                ["EndToEndTests.ProviderSignInTests/otherBrowser"],
                r'login CSRF: 303[\s\S]*"gatehouse-refresh"\] == nil → false'),
    "rotation": ("fixation: a secret from before another sign-in finishes one",
                 ["IdentityProvidersTests.CallbackStateTests/fault"], r"after a change of privilege[\s\S]*requests\.count → 3"),
    "provider": ("mix-up: the answer of one provider at the other's callback",
                 ["EndToEndTests.ProviderSignInTests/state"], r'mix-up: 303[\s\S]*other\.requests\(to: "/token"\) == 0 → false'),
    "iss": ("mix-up: a response in another issuer's name has its code redeemed",
            ["IdentityProvidersTests.LyingProviderTests/response"], r"a code was sent to it"),
    "return_to": ("open redirect: a sign-in that ends elsewhere begins",
                  ["EndToEndTests.ProviderSignInTests/openRedirect"], r"provider\.requests\.isEmpty → false"),
    "nonce": ("replay: an ID token of another sign-in signs in",
              ["IdentityProvidersTests.LyingProviderTests/idToken"], r"another nonce"),
}


def copy():
    """The sources with the switches. Files that are as they were are left alone, so that little is built again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    texts = {}
    for path, was, becomes in EDITS:
        text = texts.get(path) or (ROOT / path).read_text()
        if text.count(was) != 1:
            sys.exit(f"{path}: this is there {text.count(was)} times, not once: {was}")
        texts[path] = text.replace(was, becomes)
    texts[SWITCH[0]] = SWITCH[1]
    for path in {*filter(None, listed.split("\0")), *texts}:
        source, target = ROOT / path, COPY / path
        if path not in texts and not source.is_file():
            continue
        new = texts[path].encode() if path in texts else source.read_bytes()
        if not target.exists() or target.read_bytes() != new:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(new)
            if path not in texts:
                shutil.copymode(source, target)


def tried(tests, without=""):
    """Whether the tests pass, and what they say."""
    command = ["timeout", "900", "swift", "test", "--skip-build"]
    for test in tests:
        command += ["--filter", "^" + re.escape(test) + r"\b"]
    environment = {**os.environ, "BENCH": "1", "WITHOUT_CHECK": without}
    done = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if not re.search(r"Test run with [1-9]\d* test", said):
        sys.exit(f"no test was run: {' '.join(command)}\n{said[-2000:]}")
    return done.returncode == 0, said


def main():
    names = sys.argv[1:] or list(CHECKS)
    for name in names:
        if name not in CHECKS:
            sys.exit(f"no check is called {name}: {', '.join(CHECKS)}")
    copy()
    environment = {**os.environ, "BENCH": "1"}
    subprocess.run(["swift", "build", "--build-tests"], cwd=COPY, env=environment, check=True, stdout=sys.stderr)
    bad = 0
    for name in names:
        attack, tests, success = CHECKS[name]
        holds, said = tried(tests)
        if not holds:
            print(f"{name}: the tests fail with the check\n{said[-2000:]}")
            bad += 1
            continue
        holds, said = tried(tests, name)
        seen = not holds and re.search(success, said) is not None
        verdict = "succeeds without the check" if seen else "DID NOT SUCCEED without the check"
        print(f"{name:10} {attack}: refused with the check, {verdict}", flush=True)
        if not seen:
            print(said[-3000:])
            bad += 1
    print(f"{len(names) - bad} of {len(names)} attacks were refused with their check and succeeded without it")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
