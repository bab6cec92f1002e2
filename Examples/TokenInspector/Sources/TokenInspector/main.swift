import Foundation
import JOSE

// token-inspector [KEY-FILE] < token
//
// Shows the contents of a token and its findings under RFC 8725. With a key (PEM, DER, JWK or JWKS) it also verifies
// the signature and the dates; without one, nothing is verified.
// Exit codes: 0 verified, 1 refused, 2 wrong usage or an unusable key, 3 shown but not verified.

let now = Date().timeIntervalSince1970

func show(_ line: String) {
    print(TerminalText.escaped(line))
}

func showMembers(_ title: String, _ object: JSONObject) {
    show(title)
    for (name, value) in object.members {
        var line = "  \(name): \(value.serialized())"
        if ["exp", "nbf", "iat"].contains(name), let seconds = value.doubleValue, abs(seconds) < 1e11 {
            line += "  (\(Date(timeIntervalSince1970: seconds).formatted(.iso8601)))"
        }
        show(line)
    }
}

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((TerminalText.escaped(message) + "\n").utf8))
    exit(status)
}

/// Reads standard input up to a limit, because tokens are small.
func readToken(limit: Int = 65_536) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count <= limit {
        let piece = FileHandle.standardInput.readData(ofLength: limit + 1 - bytes.count)
        if piece.isEmpty { break }
        bytes += piece
    }
    while let last = bytes.last, [0x0A, 0x0D, 0x20].contains(last) { bytes.removeLast() }
    return bytes
}

/// The keys in a file of any supported form.
func readKeys(_ path: String) -> JWKSet {
    guard let bytes = FileManager.default.contents(atPath: path) else { fail("\(path) can't be read", status: 2) }
    do {
        return try JWKSet(file: bytes)
    } catch {
        fail("\(path): \(error)", status: 2)
    }
}

guard CommandLine.arguments.count <= 2 else { fail("usage: token-inspector [KEY-FILE] < token", status: 2) }
let keys = CommandLine.arguments.dropFirst().first.map(readKeys)

let token: UnverifiedToken
do {
    token = try UnverifiedToken(readToken(), limits: TokenLimits(maxBytes: 65_536))
} catch {
    fail("refused: \(error)", status: 1)
}

showMembers("Header", token.header.all)
if let claims = try? token.unverifiedClaims() {
    showMembers("Claims", claims.members)
} else {
    show("Payload: \(token.unverifiedPayload.count) bytes that are no claims")
}
show("RFC 8725")
for finding in TokenLint.findings(token, now: now) {
    show("  \(finding.level.rawValue)  \(finding.message) (section \(finding.section))")
}

guard let keys else {
    show("NOT VERIFIED: no key was given")
    exit(3)
}
switch token.verify(with: keys, rules: ClaimsRules(leeway: 30), now: now) {
case .success(let verified):
    show("Verified with key \(verified.keyID)")
case .failure(let refusal):
    show("NOT VERIFIED: \(refusal)")
    exit(1)
}
