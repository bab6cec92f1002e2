"""Shows that the attacks on signing in would succeed without the check that each is about.

    python3 Tests/WithoutChecks/run.py [--folder FOLDER] [CHECK…]
    python3 Tests/WithoutChecks/run.py --check

Makes a copy of the sources in `.build/without-checks`, or FOLDER, in which each check of the table below is skipped if
WITHOUT_CHECK names it, and builds it once. In that build the tests that attack a check have to pass while it is
there, and to fail in the way of an attack that succeeded while it is not. The sources themselves know of none of this:
no build of theirs can leave a check out. `--check` only looks whether the table fits the sources.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOGIN = "Sources/IdentityProviders/Login"

# What says in each module of the copy whether a check is skipped.
SWITCH = """import Foundation

enum Without {
    static func check(_ name: String) -> Bool {
        let names = ProcessInfo.processInfo.environment["WITHOUT_CHECK"] ?? ""
        return names.split(separator: ",").contains { $0 == name }
    }
}
"""

# No tests but these are built.
TRIMMED = """
package.targets.removeAll { $0.type == .test && !["EndToEndTests", "IdentityProvidersTests"].contains($0.name) }
"""

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
    # The secret from before a sign-in.
    ("Sources/Runtime/Sessions/SessionProof.swift",
     "            ConstantTime.equal(record.secretHash, hash)\n",
     "            ConstantTime.equal(record.secretHash, hash)\n"
     '                || Without.check("secret")\n'
     "                    && record.previousSecretHash.map { ConstantTime.equal($0, hash) } == true\n"),
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

# Check, the attack, the test that tries it, and what it says when the attack has succeeded.
CHECKS = {
    "browser": ("login CSRF: a victim's browser finishes what the attacker began",
                "EndToEndTests.ProviderSignInTests/otherBrowser", r"the victim is signed in as the attacker"),
    "secret": ("fixation: the secret that was planted before a sign-in opens the session after it",
               "EndToEndTests.ProviderSignInTests/signIn", r"the secret from before the sign-in opens the session"),
    "rotation": ("fixation: a secret from before another sign-in finishes one",
                 "IdentityProvidersTests.CallbackStateTests/fault",
                 r"after a change of privilege\b(.*\n){1,3}.*a code was redeemed"),
    "provider": ("mix-up: the answer of one provider at the other's callback",
                 "EndToEndTests.ProviderSignInTests/state", r"a code was sent to the other provider"),
    "iss": ("mix-up: a response in another issuer's name has its code redeemed",
            "IdentityProvidersTests.LyingProviderTests/response", r"mix-up\b.*\n.*a code was sent to it"),
    "return_to": ("open redirect: a sign-in ends at another site",
                  "EndToEndTests.ProviderSignInTests/openRedirect", r"open redirect to https://evil\.example"),
    "nonce": ("replay: an ID token of another sign-in signs in",
              "IdentityProvidersTests.LyingProviderTests/idToken", r"another nonce\b.*\n?.*identified"),
}


def edited():
    """The files that are otherwise in the copy, by their paths."""
    texts = {"Package.swift": (ROOT / "Package.swift").read_text() + TRIMMED}
    for path, was, becomes in EDITS:
        text = texts.get(path) or (ROOT / path).read_text()
        if text.count(was) != 1:
            sys.exit(f"{path}: this is there {text.count(was)} times, not once: {was}")
        texts[path] = text.replace(was, becomes)
        texts["/".join([*path.split("/")[:2], "Without.swift"])] = SWITCH
    return texts


def copy(folder):
    """The sources with the switches. Files that are as they were are left alone, so that little is built again."""
    texts = edited()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in {*filter(None, listed.split("\0")), *texts}:
        source, target = ROOT / path, folder / path
        if path not in texts and not source.is_file():
            continue
        new = texts[path].encode() if path in texts else source.read_bytes()
        if not target.exists() or target.read_bytes() != new:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(new)
            if path not in texts:
                shutil.copymode(source, target)


def tried(folder, test, without=""):
    """Whether the test passes, and what it says."""
    tests = next((folder / ".build" / "debug").glob("*.xctest"))
    command = ["timeout", "600", str(tests), "--testing-library", "swift-testing", "--filter", f"^{re.escape(test)}\\b"]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "WITHOUT_CHECK": without}, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if not re.search(r"Test run with [1-9]\d* test", said):
        sys.exit(f"no test was run: {' '.join(command)}\n{said[-2000:]}")
    return done.returncode == 0, said


def show(folder, name):
    """Whether an attack fails with its check, and succeeds without."""
    attack, test, success = CHECKS[name]
    holds, said = tried(folder, test)
    if not holds:
        print(f"{name}: {test} fails with the check\n{said[-2000:]}", flush=True)
        return False
    holds, said = tried(folder, test, name)
    seen = not holds and re.search(success, said) is not None
    verdict = "succeeds without the check" if seen else "DID NOT SUCCEED without the check"
    print(f"{name:10} {attack}: refused with the check, {verdict}", flush=True)
    if not seen:
        print(said[-3000:], flush=True)
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / ".build" / "without-checks")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    arguments = parser.parse_args()
    for name in arguments.checks:
        if name not in CHECKS:
            sys.exit(f"no check is called {name}: {', '.join(CHECKS)}")
    if arguments.check:
        edited()
        return
    copy(arguments.folder)
    subprocess.run(["swift", "build", "--build-tests"], cwd=arguments.folder, check=True, stdout=sys.stderr)
    names = arguments.checks or list(CHECKS)
    good = [show(arguments.folder, name) for name in names].count(True)
    print(f"{good} of {len(names)} attacks were refused with their check and succeeded without it")
    sys.exit(0 if good == len(names) else 1)


if __name__ == "__main__":
    main()
