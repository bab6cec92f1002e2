import Encodings
import JOSE
import Libcrypto

/// Whose sessions a provider ended (OpenID Connect Back-Channel Logout 1.0 §2.4), verified.
package struct LogoutToken: Sendable, Equatable {
    /// Whom or what the provider logged out.
    package enum Target: Sendable, Equatable {
        /// One session of the provider.
        case session(String, subject: String?)
        /// All sessions of a person.
        case subject(String)
    }

    /// To be remembered until ``until``: a token whose `jti` is there already is a replay, and without effect.
    package struct Replay: Sendable, Hashable {
        /// The provider's `iss`.
        package let issuer: String
        /// The token's `jti`.
        package let tokenID: String
        /// Milliseconds since 1970; the token is refused for its `exp` from then on.
        package let until: Int64

        /// What it is remembered by: SHA-256 of issuer and `jti`.
        package var hash: [UInt8] { Digest.sha256("\(issuer.utf8.count) \(issuer)\(tokenID)".utf8) }

        /// Equal where issuer and `jti` are, regardless of ``until``.
        package static func == (left: Self, right: Self) -> Bool {
            left.issuer.hasSameBytes(as: right.issuer) && left.tokenID.hasSameBytes(as: right.tokenID)
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(ByteName(issuer))
            hasher.combine(ByteName(tokenID))
        }
    }

    /// Whom or what it is about.
    package let target: Target
    /// What is to be remembered so that the token has an effect only once.
    package let replay: Replay
    /// When the provider ended it (`iat`), in milliseconds since 1970.
    package let issuedAt: Int64

    /// The name of the event.
    static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// The longest time from `iat` to `exp`, in seconds; so long a `jti` is remembered at most.
    static let maximumLifetime = 86_400.0

    /// Verifies a logout token (§2.6).
    ///
    /// - Parameters:
    ///   - token: as it was posted.
    ///   - key: of the provider, by the token's `kid`.
    ///   - provider: at whose endpoint it was posted.
    ///   - leeway: the seconds by which clocks may differ.
    ///   - now: milliseconds since 1970.
    package static func verify(
        _ token: UnverifiedToken, with key: VerificationKey, of provider: ProviderConfiguration, leeway: Double,
        now: Int64
    ) -> Result<LogoutToken, TokenRefusal> {
        guard !key.isSymmetric else {
            return .failure(TokenRefusal(.algorithmNotAllowed, "a shared secret verifies no logout token"))
        }
        let rules = ClaimsRules(
            issuer: provider.issuer, audience: [provider.clientID],
            requiredClaims: ["iss", "aud", "iat", "exp", "jti", "events"], leeway: leeway,
            maximumLifetime: maximumLifetime,
            additional: [type, logoutEvent, noNonce, .claim("jti", atMost: 256), .claim("sid", atMost: 255)])
        return token.verify(with: key, rules: rules, now: Double(now) / 1000).flatMap { verified in
            do throws(TokenRefusal) {
                return .success(try LogoutToken(verified.claims, issuer: provider.issuer, leeway: rules.leeway))
            } catch {
                return .failure(error)
            }
        }
    }

    private init(_ claims: Claims, issuer: String, leeway: Double) throws(TokenRefusal) {
        let subject = claims.subject.flatMap { $0.utf8.isEmpty ? nil : $0 }
        if let subject, subject.utf8.count > IDTokenRules.maximumSubjectBytes {
            throw TokenRefusal(.claimInvalid, "sub is longer than a subject can be")
        }
        if let session = try claims.string("sid"), !session.utf8.isEmpty {
            target = .session(session, subject: subject)
        } else if let subject {
            target = .subject(subject)
        } else {
            throw TokenRefusal(.claimMissing, "neither sid nor sub")
        }
        guard let tokenID = claims.tokenID, let expiresAt = claims.expiresAt,
            let until = Int64(exactly: ((expiresAt + leeway) * 1000).rounded(.up)),
            let issuedAt = claims.issuedAt.flatMap({ Int64(exactly: ($0 * 1000).rounded(.up)) })
        else { throw TokenRefusal(.claimMissing, "jti, exp or iat is missing") }
        self.issuedAt = issuedAt
        replay = Replay(issuer: issuer, tokenID: tokenID, until: until)
    }

    /// `logout+jwt`, or as older providers have it, none or `JWT`; every other kind of token is refused.
    private static let type = ClaimRule { header, _, _ in
        guard let type = header.type else { return nil }
        let lowered = String(decoding: type.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        let accepted = ["logout+jwt", "application/logout+jwt", "jwt"]
        return accepted.contains { $0.hasSameBytes(as: lowered) }
            ? nil : TokenRefusal(.typeMismatch, "typ is not logout+jwt")
    }

    private static let logoutEvent = ClaimRule { _, claims, _ in
        guard let events = claims["events"]?.objectValue else {
            return TokenRefusal(.claimInvalid, "events is not an object")
        }
        return events[event]?.objectValue == nil
            ? TokenRefusal(.typeMismatch, "the event of a back-channel logout is missing") : nil
    }

    /// An ID token has a nonce; a logout token must not, so that neither passes for the other.
    private static let noNonce = ClaimRule { _, claims, _ in
        claims["nonce"] == nil ? nil : TokenRefusal(.typeMismatch, "a nonce, which a logout token must not have")
    }
}
