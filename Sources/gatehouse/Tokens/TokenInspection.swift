import Encodings
import JOSE
import Runtime

/// Describes a token without a key, as text or JSON.
struct TokenInspection {
    private static let unproved = "The signature was not checked: 'gatehouse token verify' does that, with a key."

    let token: UnverifiedToken
    /// Seconds since 1970.
    let now: Double

    private var findings: [LintFinding] { TokenLint.findings(token, now: now) }
    /// Nil for a payload that holds no claims, which is no fault of a token that is only looked at.
    private var claims: Claims? { try? token.unverifiedClaims() }

    /// Header, claims and findings, for programs.
    var json: JSONObject {
        var answer: JSONObject = ["signature": "not checked", "header": .object(token.header.all)]
        if let claims {
            answer["claims"] = .object(claims.members)
        } else {
            answer["payload"] = .string(TerminalText.escaped(bytes: token.unverifiedPayload))
        }
        answer["findings"] = .array(
            findings.map { finding in
                .object([
                    "check": .string(finding.check), "level": .string(finding.level.rawValue),
                    "section": .string(finding.section), "message": .string(finding.message),
                ])
            })
        return answer
    }

    /// The same for people.
    var lines: [String] {
        var lines = ["Header"] + members(token.header.all, TokenGlossary.header)
        if let claims {
            lines += ["Claims"] + members(claims.members, TokenGlossary.claims)
        } else {
            lines += ["Payload", "  \(TerminalText.escaped(bytes: token.unverifiedPayload))"]
        }
        lines += ["RFC 8725"]
        lines += findings.map { "  \($0.level.rawValue)  \(TerminalText.escaped($0.message)) (section \($0.section))" }
        return lines + [Self.unproved]
    }

    /// One line for each member, with its meaning, and the date where it is one.
    private func members(_ object: JSONObject, _ glossary: [String: String]) -> [String] {
        object.members.map { name, value in
            var line = "  \(TerminalText.escaped(name)): \(TerminalJSON.text(value))"
            var notes = glossary[name].map { [$0] } ?? []
            if ["exp", "nbf", "iat", "auth_time"].contains(name), let date = date(value) { notes.append(date) }
            if !notes.isEmpty { line += "  (\(notes.joined(separator: "; ")))" }
            return line
        }
    }

    /// A date in readable form, with its distance from now.
    private func date(_ value: JSONValue) -> String? {
        guard let seconds = value.doubleValue, let milliseconds = Int64(exactly: (seconds * 1_000).rounded(.down)),
            let distance = Int64(exactly: (seconds - now).rounded())
        else { return nil }
        let amount = Self.amount(distance.magnitude)
        return "\(Timestamp.text(milliseconds)), \(distance < 0 ? "\(amount) ago" : "in \(amount)")"
    }

    /// A duration in the unit that a person would use.
    private static func amount(_ seconds: UInt64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

/// Short explanations of the registered names.
enum TokenGlossary {
    static let header = [
        "alg": "algorithm", "kid": "which key", "typ": "kind of token", "cty": "kind of payload",
        "jku": "where a key set is said to be", "jwk": "a key brought along",
        "x5u": "where a certificate is said to be",
        "x5c": "certificates brought along", "crit": "extensions that must be understood",
    ]

    static let claims = [
        "iss": "issuer", "sub": "subject", "aud": "audience", "exp": "expires", "nbf": "not before", "iat": "issued",
        "jti": "the token's own id", "client_id": "client", "tenant_id": "tenant", "scope": "what it allows",
        "fid": "refresh family", "azp": "authorized party", "nonce": "nonce", "auth_time": "when the user logged in",
        "cnf": "the key its bearer must hold", "act": "who acts for the subject",
    ]
}
