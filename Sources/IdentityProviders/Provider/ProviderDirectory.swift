import Encodings
import JOSE

/// The identity providers of the configuration, in its order.
package struct ProviderDirectory: Sendable {
    /// In the order of the configuration.
    package let all: [IdentityProvider]

    /// - Parameter all: each with a name of its own.
    package init(_ all: [IdentityProvider] = []) { self.all = all }

    /// The provider of a name, compared byte for byte.
    package subscript(name: String) -> IdentityProvider? {
        all.first { $0.configuration.name.hasSameBytes(as: name) }
    }

    /// Whether any of them takes tokens instead of a sign-in with a redirect.
    package var acceptsTokens: Bool { all.contains { $0.configuration.acceptsTokens } }

    /// The provider to judge a token that is handed in: the one that is named, else one that takes tokens of the issuer
    /// that the token claims, preferably for the client that it claims to be for. The claims are not believed; they
    /// only choose who judges.
    package func judge(ofToken text: String, named name: String?) -> IdentityProvider? {
        if let name { return self[name].flatMap { $0.configuration.acceptsTokens ? $0 : nil } }
        guard case .success(let token) = ProviderToken.read(text), let claims = try? token.unverifiedClaims(),
            let issuer = claims.issuer
        else { return nil }
        let candidates = all.filter {
            $0.configuration.acceptsTokens && $0.configuration.issuer.hasSameBytes(as: issuer)
        }
        return candidates.first { candidate in
            claims.audience?.contains { $0.hasSameBytes(as: candidate.configuration.clientID) } == true
        } ?? candidates.first
    }
}
