import Encodings
import JOSE
import Libcrypto

/// What an ID token must say (OpenID Connect Core 1.0 §3.1.3.7).
struct IDTokenRules: Sendable {
    let issuer: String
    let clientID: String
    /// The nonce of the request; nil for a token that came without one, as `subject_token`.
    var nonce: String?
    /// The access token that came with it, which `at_hash` is of.
    var accessToken: String?
    /// The `max_age` of the request, in seconds.
    var maximumAge: Int64?
    /// The seconds by which clocks may differ.
    let leeway: Double

    /// What a token of a provider may cost: groups make them long.
    static let limits = TokenLimits(
        maxBytes: 64 * 1024, json: JSONLimits(maxBytes: 64 * 1024, maxMembers: 1000, maxValues: 10_000))

    /// The longest `sub`, in bytes (OpenID Connect Core 1.0 §2).
    static let maximumSubjectBytes = 255

    var claims: ClaimsRules {
        ClaimsRules(
            issuer: issuer, audience: [clientID], requiredClaims: ["iss", "sub", "aud", "exp", "iat"], leeway: leeway,
            additional: [
                Self.type, .claim("sub", atMost: Self.maximumSubjectBytes), authorizedParty, nonceRule, accessTokenHash,
                authenticationTime, Self.noEvents, age,
            ])
    }

    /// No `typ`, or `JWT`: an access token, a logout token or an assertion of the same issuer is no ID token.
    private static let type = ClaimRule { header, _, _ in
        guard let type = header.type else { return nil }
        return type.utf8.elementsEqual("jwt".utf8, by: { $0 | 0x20 == $1 })
            ? nil : TokenRefusal(.typeMismatch, "typ is not JWT")
    }

    /// A security event of the same issuer is not an ID token, with any `typ`.
    private static let noEvents = ClaimRule { _, claims, _ in
        claims["events"] == nil ? nil : TokenRefusal(.typeMismatch, "a security event, not an ID token")
    }

    /// A token whose `iat` is older than ``ProviderToken/maximumAge`` is refused, because logouts that the provider has
    /// announced are remembered only for that long. A token that has expired passes this rule: another refuses it.
    private var age: ClaimRule {
        ClaimRule { [leeway] _, claims, now in
            guard let issuedAt = claims.issuedAt, let expiresAt = claims.expiresAt, expiresAt > now - leeway else {
                return nil
            }
            return (now - issuedAt) * 1000 <= Double(ProviderToken.maximumAge)
                ? nil : TokenRefusal(.lifetimeExceeded, "iat is longer ago than an ID token is accepted")
        }
    }

    /// `azp` is the client, and has to be there if the token is for others too.
    private var authorizedParty: ClaimRule {
        ClaimRule { [clientID] _, claims, _ in
            guard let party = claims["azp"] else {
                return claims.audience?.count == 1
                    ? nil : TokenRefusal(.audienceMismatch, "several audiences and no azp")
            }
            return party == .string(clientID) ? nil : TokenRefusal(.audienceMismatch, "azp is another client")
        }
    }

    private var nonceRule: ClaimRule {
        ClaimRule { [nonce] _, claims, _ in
            guard let nonce else { return nil }
            guard let said = claims["nonce"] else { return TokenRefusal(.claimMissing, "nonce is missing") }
            guard let text = said.stringValue, ConstantTime.equal(Array(text.utf8), Array(nonce.utf8)) else {
                return TokenRefusal(.claimInvalid, "nonce is not the request's")
            }
            return nil
        }
    }

    /// `at_hash`, where it is there (OpenID Connect Core 1.0 §3.1.3.8).
    private var accessTokenHash: ClaimRule {
        ClaimRule { [accessToken] header, claims, _ in
            guard let accessToken, let said = claims["at_hash"] else { return nil }
            guard let wanted = AccessTokenHash.value(of: accessToken, algorithm: header.algorithm) else {
                return TokenRefusal(.claimInvalid, "at_hash with an algorithm for which it is not defined")
            }
            return said == .string(wanted) ? nil : TokenRefusal(.claimInvalid, "at_hash is of another access token")
        }
    }

    /// `auth_time` is needed where `max_age` was asked for, and recent enough.
    private var authenticationTime: ClaimRule {
        ClaimRule { [maximumAge, leeway] _, claims, now in
            let said = claims["auth_time"]
            guard said == nil || said?.doubleValue.map({ $0 >= 0 && $0 < 9_007_199_254_740_992 }) == true else {
                return TokenRefusal(.claimInvalid, "auth_time is not a date in seconds")
            }
            guard let maximumAge else { return nil }
            guard let time = said?.doubleValue else { return TokenRefusal(.claimMissing, "auth_time is missing") }
            guard time <= now + leeway else { return TokenRefusal(.issuedInFuture, "auth_time is still to come") }
            return now - time <= Double(maximumAge) + leeway
                ? nil : TokenRefusal(.claimInvalid, "auth_time is longer ago than max_age")
        }
    }
}

/// The hash by which an ID token names the access token that came with it.
enum AccessTokenHash {
    /// Base64url of the left half of the digest that the algorithm goes with; nil where there is none.
    static func value(of accessToken: String, algorithm name: String) -> String? {
        let digest: DigestAlgorithm
        switch SignatureAlgorithm(name: name) {
        case .rs256, .ps256, .es256: digest = .sha256
        case .rs384, .ps384, .es384: digest = .sha384
        // Ed25519 hashes with SHA-512, and providers take that.
        case .rs512, .ps512, .es512, .ed25519, .eddsa: digest = .sha512
        default: return nil
        }
        return Base64URL.encode(Digest.digest(digest, accessToken.utf8).prefix(digest.byteCount / 2))
    }
}
