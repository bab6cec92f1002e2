import Libcrypto
import StateSurface

/// The registered OAuth clients. It can be used without a gateway, as `gatehouse clients` does.
package struct Clients: Sendable {
    let state: any ClientStore
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    package init(
        state: any ClientStore, clock: @escaping @Sendable () -> Int64, audit: @escaping AuditSink = { _ in }
    ) {
        self.state = state
        self.clock = clock
        self.audit = audit
    }

    /// Registers a client with a secret, which is returned only here.
    /// - Parameter redirectURIs: where it may receive authorization codes. Their form has been checked.
    package func add(
        name: String, tenantID: String, scope: [String], redirectURIs: [String] = []
    ) async throws -> (client: ClientRecord, secret: String) {
        let secret = IssuedClientSecret.make()
        var client = try record(name: name, tenantID: tenantID, scope: scope, redirectURIs: redirectURIs)
        client.secretHash = secret.hash
        try await state.insert(client: client)
        return (client, secret.text)
    }

    /// Registers a client without a secret.
    /// - Parameter redirectURIs: as for ``add(name:tenantID:scope:redirectURIs:)``.
    package func addPublic(
        name: String, tenantID: String, scope: [String], redirectURIs: [String]
    ) async throws -> ClientRecord {
        var client = try record(name: name, tenantID: tenantID, scope: scope, redirectURIs: redirectURIs)
        client.isPublic = true
        try await state.insert(client: client)
        return client
    }

    private func record(
        name: String, tenantID: String, scope: [String], redirectURIs: [String]
    ) throws(AuthError) -> ClientRecord {
        guard NameRule.isTenant(tenantID) else {
            throw AuthError(.invalidRequest, "a tenant has 1 to 64 letters, digits, '.', '_' or '-'")
        }
        return ClientRecord(
            clientID: RandomID.make(Prefix.client), tenantID: tenantID, name: try Self.checked(name: name),
            secretHash: [], scope: try Accounts.checked(scope), createdAt: clock(), redirectURIs: redirectURIs)
    }

    /// The name as it is, if a client can have it.
    package static func checked(name: String) throws(AuthError) -> String {
        guard (1...128).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw AuthError(.invalidRequest, "a client's name has 1 to 128 bytes without control characters")
        }
        return name
    }

    /// Stores a client that has registered itself (RFC 7591). It has no secret and belongs to no tenant.
    /// - Parameter lifetime: after how many milliseconds it is forgotten unless it is used before.
    package func register(
        name: String, scope: [String], redirectURIs: [String], lifetime: Int64
    ) async throws -> ClientRecord {
        let now = clock()
        let client = ClientRecord(
            clientID: RandomID.make(Prefix.client), tenantID: "", name: name, secretHash: [], scope: scope,
            createdAt: now, redirectURIs: redirectURIs, isPublic: true, origin: "registration",
            expiresAt: now &+ lifetime)
        try await state.insert(client: client)
        return client
    }

    /// The client with this id, unless it is disabled or has been forgotten.
    package func usable(id: String) async throws -> ClientRecord? {
        guard NameRule.isClientID(id), let client = try await state.client(id: id), !client.disabled else { return nil }
        if let end = client.expiresAt, end <= clock() { return nil }
        return client
    }

    /// The client, if the secret is correct and the client is not disabled; otherwise nil.
    package func authenticate(id: String, secret: String) async throws -> ClientRecord? {
        guard NameRule.hasShape(id, prefix: Prefix.client), (1...256).contains(secret.utf8.count) else {
            return refused("client_malformed", id: nil)
        }
        let presented = IssuedClientSecret.hash(secret)
        guard let client = try await state.client(id: id) else { return refused("client_unknown", id: id) }
        guard ConstantTime.equal(client.secretHash, presented) else { return refused("secret_wrong", id: id) }
        return client.disabled ? refused("client_disabled", id: id) : client
    }

    private func refused(_ reason: String, id: String?) -> ClientRecord? {
        audit(AuditEvent(.clientRefused, reason: reason, clientID: id))
        return nil
    }
}
