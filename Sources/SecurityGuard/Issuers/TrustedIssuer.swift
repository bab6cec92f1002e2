import JOSE

/// An issuer elsewhere whose JWTs may be exchanged for access tokens made here, and how far it is believed.
package struct TrustedIssuer: Sendable {
    /// Where its public keys come from.
    package enum Keys: Sendable {
        /// The text of a JWK set: from the configuration, or read from a file by whoever composes the gateway.
        case inline([UInt8])
        case url(String)
    }

    /// Its `iss`, byte for byte.
    package var issuer: String
    package var keys: Keys
    /// One of these must be in `aud`.
    package var audiences: [String]
    /// The tenants it may speak for. None: it is believed for nothing.
    package var tenants: [String]
    package var algorithms: [SignatureAlgorithm]
    /// Its scopes and what they mean here. What is not listed means nothing.
    package var scopes: [String: [String]]
    /// Scopes that everyone it vouches for has.
    package var defaultScope: [String]
    /// Accepted `typ` values; empty: any, or none.
    package var types: [String]

    package init(
        issuer: String, keys: Keys, audiences: [String], tenants: [String] = [],
        algorithms: [SignatureAlgorithm] = [.rs256, .es256, .ed25519], scopes: [String: [String]] = [:],
        defaultScope: [String] = [], types: [String] = []
    ) {
        self.issuer = issuer
        self.keys = keys
        self.audiences = audiences
        self.tenants = tenants
        self.algorithms = algorithms
        self.scopes = scopes
        self.defaultScope = defaultScope
        self.types = types
    }

    func check() throws(GuardError) {
        guard !issuer.utf8.isEmpty else { throw GuardError(.issuer, "an entry of issuers has no issuer") }
        guard !audiences.isEmpty, !audiences.contains(where: \.utf8.isEmpty) else {
            throw GuardError(
                .issuer, "issuer \(issuer) needs audiences: the names that its tokens have for us")
        }
        guard !algorithms.isEmpty else { throw GuardError(.issuer, "issuer \(issuer) has an empty list of algorithms") }
        for tenant in tenants where !NameRule.isTenant(tenant) {
            throw GuardError(.issuer, "issuer \(issuer) lists a tenant that is no tenant's name")
        }
        guard (scopes.values.flatMap { $0 } + defaultScope).allSatisfy(Scope.isScopeToken) else {
            throw GuardError(.issuer, "issuer \(issuer) maps to something that is no scope (RFC 6749 §3.3)")
        }
    }

    /// What the scopes in its token mean here.
    func granted(for external: [String]) -> [String] {
        let mapped = scopes.filter { entry in Scope.contains(external, entry.key) }.values.flatMap { $0 }
        let all = defaultScope + mapped.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return all.reduce(into: []) { scope, token in
            if !Scope.contains(scope, token) { scope.append(token) }
        }
    }
}
