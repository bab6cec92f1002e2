import Encodings

extension TokenLint {
    /// The lifetime in seconds above which a token is reported as long-lived: a stolen one stays usable that long.
    private static let longLifetime = 24.0 * 60 * 60

    static func claimFindings(_ claims: Claims, _ now: Double?) -> [LintFinding] {
        [
            presence(claims.issuer, "iss", "3.8", "which issuer's keys may verify it"),
            presence(claims.subject, "sub", "3.8", "whom it is about"),
            audience(claims), clientID(claims), expiry(claims), dates(claims, now), personal(claims),
        ].compactMap { $0 }
    }

    private static func presence(
        _ value: String?, _ name: String, _ section: String, _ meaning: String
    ) -> LintFinding {
        guard let value else { return finding(name, section, .warn, "no \(name): nothing says \(meaning)") }
        return value.isEmpty
            ? finding(name, section, .fail, "\(name) is empty")
            : finding(name, section, .ok, "\(name) says \(meaning)")
    }

    private static func audience(_ claims: Claims) -> LintFinding {
        guard let audience = claims.audience else {
            return finding("aud", "3.9", .warn, "no aud: it can be replayed to any recipient")
        }
        if audience.isEmpty || audience.contains(where: \.isEmpty) {
            return finding("aud", "3.9", .fail, "aud is empty")
        }
        return audience.count > 1
            ? finding("aud", "3.9", .warn, "aud names \(audience.count) recipients: each can replay it to the others")
            : finding("aud", "3.9", .ok, "aud names one recipient")
    }

    private static func clientID(_ claims: Claims) -> LintFinding? {
        guard let value = claims[ClaimName.clientID], value.stringValue == nil else { return nil }
        return finding("client_id", "3.8", .fail, "client_id is not a string")
    }

    private static func expiry(_ claims: Claims) -> LintFinding {
        guard let expiresAt = claims.expiresAt else {
            return finding("exp", "3.10", .warn, "no exp: it is good for ever")
        }
        guard let start = claims.issuedAt ?? claims.notBefore else {
            return finding("exp", "3.10", .ok, "exp is there; without iat its lifetime is not known")
        }
        return expiresAt - start > longLifetime
            ? finding("exp", "3.10", .warn, "good for longer than a day")
            : finding("exp", "3.10", .ok, "exp bounds its life")
    }

    private static func dates(_ claims: Claims, _ now: Double?) -> LintFinding? {
        let expiresAt = claims.expiresAt ?? .infinity
        if let notBefore = claims.notBefore, notBefore > expiresAt {
            return finding("dates", "3.10", .fail, "nbf is after exp")
        }
        if let issuedAt = claims.issuedAt, issuedAt > expiresAt {
            return finding("dates", "3.10", .fail, "iat is after exp")
        }
        guard let now else { return nil }
        if expiresAt <= now { return finding("dates", "3.10", .fail, "exp has passed") }
        if let issuedAt = claims.issuedAt, issuedAt > now + 60 {
            return finding("dates", "3.10", .fail, "iat is still to come")
        }
        if let notBefore = claims.notBefore, notBefore > now {
            return finding("dates", "3.10", .warn, "nbf is still to come")
        }
        return finding("dates", "3.10", .ok, "its dates surround the present")
    }

    /// Reports claims that should not be in a token that is signed but not encrypted, because every reader sees them.
    private static func personal(_ claims: Claims) -> LintFinding? {
        let telling = ["password", "passwd", "secret", "credit_card", "ssn", "session_id", "sid", "refresh_token"]
        let found = telling.filter { claims[$0] != nil }
        guard !found.isEmpty else { return nil }
        return finding(
            "contents", "3.10", .warn, "it carries \(found.joined(separator: ", ")): everyone who sees it can read it")
    }
}
