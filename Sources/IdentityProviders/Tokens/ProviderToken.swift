import Encodings
import JOSE

/// A token of a provider whose signature and claims were verified; only ``verify(_:with:rules:now:)`` makes one.
package struct ProviderToken: Sendable {
    /// How long after its `iat` an ID token is accepted at most, in milliseconds, whatever its `exp`: so long it is
    /// remembered what its provider has ended. Providers give them 30 days at most.
    package static let maximumAge: Int64 = 30 * 86_400_000

    /// The claims.
    let claims: JSONObject
    /// `sub`.
    package let subject: String

    private init(_ token: VerifiedToken) throws(TokenRefusal) {
        claims = token.claims.members
        guard let subject = token.claims.subject else { throw TokenRefusal(.claimMissing, "sub is missing") }
        self.subject = subject
    }

    /// Reads a token of a provider.
    static func read(_ text: String) -> Result<UnverifiedToken, TokenRefusal> {
        do throws(TokenRefusal) {
            return .success(try UnverifiedToken(text, limits: IDTokenRules.limits))
        } catch {
            return .failure(error)
        }
    }

    /// Verifies an ID token.
    ///
    /// - Parameter now: milliseconds since 1970.
    static func verify(
        _ token: UnverifiedToken, with key: VerificationKey, rules: IDTokenRules, now: Int64
    ) -> Result<ProviderToken, TokenRefusal> {
        guard !key.isSymmetric else {
            return .failure(TokenRefusal(.algorithmNotAllowed, "a shared secret verifies no ID token"))
        }
        return token.verify(with: key, rules: rules.claims, now: Double(now) / 1000).flatMap { verified in
            do throws(TokenRefusal) {
                return .success(try ProviderToken(verified))
            } catch {
                return .failure(error)
            }
        }
    }
}
