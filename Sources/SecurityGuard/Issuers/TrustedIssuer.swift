import JOSE
import OAuth

/// Another issuer whose JWTs can be exchanged for the gateway's access tokens, and the limits of its trust.
package struct TrustedIssuer: Sendable {
    /// The source of its public keys.
    package enum Keys: Sendable {
        /// The text of a JWK set.
        case inline([UInt8])
        case url(String)
        /// A function that fetches the text of a JWK set.
        case fetched(@Sendable () async throws -> [UInt8])
    }

    /// Its `iss`, byte for byte.
    package var issuer: String
    package var keys: Keys
    /// The accepted audiences; `aud` must contain one of these.
    package var audiences: [String]
    /// The tenants that it is trusted for. If empty, none of its tokens is accepted.
    package var tenants: [String]
    package var algorithms: [SignatureAlgorithm]
    /// Its scopes and the scopes that they are mapped to. Others are ignored.
    package var scopes: [String: [String]]
    /// The scopes that all its users get.
    package var defaultScope: [String]
    /// Whether its tokens are accepted at the gate itself, without an exchange.
    package var atGate: Bool

    package init(
        issuer: String, keys: Keys, audiences: [String], tenants: [String] = [],
        algorithms: [SignatureAlgorithm] = [.rs256, .es256, .ed25519], scopes: [String: [String]] = [:],
        defaultScope: [String] = [], atGate: Bool = false
    ) {
        self.issuer = issuer
        self.keys = keys
        self.audiences = audiences
        self.tenants = tenants
        self.algorithms = algorithms
        self.scopes = scopes
        self.defaultScope = defaultScope
        self.atGate = atGate
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
        guard !atGate || tenants.count == 1 else {
            throw GuardError(.issuer, "issuer \(issuer) has at_gate, so it needs exactly one tenant")
        }
        guard (scopes.values.flatMap { $0 } + defaultScope).allSatisfy(Scope.isScopeToken) else {
            throw GuardError(.issuer, "issuer \(issuer) maps to something that is no scope (RFC 6749 §3.3)")
        }
    }

    /// The scopes that the scopes in its token are mapped to.
    func granted(for external: [String]) -> [String] {
        let mapped = scopes.filter { entry in Scope.contains(external, entry.key) }.values.flatMap { $0 }
        let all = defaultScope + mapped.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return all.reduce(into: []) { scope, token in
            if !Scope.contains(scope, token) { scope.append(token) }
        }
    }
}
