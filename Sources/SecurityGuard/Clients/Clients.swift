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

    /// Registers a client. The secret is returned only here.
    package func add(
        name: String, tenantID: String, scope: [String]
    ) async throws -> (client: ClientRecord, secret: String) {
        guard NameRule.isTenant(tenantID) else {
            throw AuthError(.invalidRequest, "a tenant has 1 to 64 letters, digits, '.', '_' or '-'")
        }
        guard (1...128).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw AuthError(.invalidRequest, "a client's name has 1 to 128 bytes without control characters")
        }
        let secret = ClientSecret.make()
        let client = ClientRecord(
            clientID: RandomID.make(Prefix.client), tenantID: tenantID, name: name, secretHash: secret.hash,
            scope: try Accounts.checked(scope), createdAt: clock())
        try await state.insert(client: client)
        return (client, secret.text)
    }

    /// The client, if the secret is correct and the client is not disabled; otherwise nil.
    package func authenticate(id: String, secret: String) async throws -> ClientRecord? {
        guard NameRule.hasShape(id, prefix: Prefix.client), (1...256).contains(secret.utf8.count) else {
            return refused("client_malformed", id: nil)
        }
        let presented = ClientSecret.hash(secret)
        guard let client = try await state.client(id: id) else { return refused("client_unknown", id: id) }
        guard ConstantTime.equal(client.secretHash, presented) else { return refused("secret_wrong", id: id) }
        return client.disabled ? refused("client_disabled", id: id) : client
    }

    private func refused(_ reason: String, id: String?) -> ClientRecord? {
        audit(AuditEvent(.clientRefused, reason: reason, clientID: id))
        return nil
    }
}
