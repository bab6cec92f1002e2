import Encodings

/// The gateway as WebAuthn knows it: the domain that credentials are scoped to, and the origins whose pages may use
/// them.
package struct RelyingParty: Sendable, Equatable {
    /// The RP ID: a domain, or `localhost`.
    package let id: String
    /// What authenticators show.
    package let name: String
    /// Origins as browsers write them; compared byte for byte.
    package let origins: [String]
    /// Whether the person must prove to the authenticator who they are, by PIN or biometry. Where a passkey is the
    /// whole sign-in it must, or a found key would do.
    package let requiresUserVerification: Bool

    /// How long a ceremony may take, in milliseconds (WebAuthn Level 3 §15.1).
    package static let timeout: Int64 = 300_000

    /// - Parameters:
    ///   - id: the host of `tokens.issuer`.
    ///   - name: as people know the service.
    ///   - origins: the gateway's own ones: never what a request says.
    ///   - requiresUserVerification: see the property.
    package init(id: String, name: String, origins: [String], requiresUserVerification: Bool = true) {
        self.id = id
        self.name = name
        self.origins = origins
        self.requiresUserVerification = requiresUserVerification
    }

    /// Whether pages of an origin may use the credentials.
    func accepts(origin: String) -> Bool { origins.contains { $0.hasSameBytes(as: origin) } }

    /// The word for the options of both ceremonies.
    var userVerification: JSONValue { requiresUserVerification ? "required" : "preferred" }
}
