import AuthorizationServer
import Encodings
import IdentityProviders
import SecurityGuard
import StateSurface

extension AgentAccess {
    private static let hour: Int64 = 3_600_000

    /// The client with this id, for the authorization endpoint. The metadata document of a URL is fetched if it is not
    /// in memory.
    /// - Throws: ``AuthorizationPageFault`` for a client that is unknown or disabled, or whose document is not
    ///   acceptable; ``AgentAccessFault`` `.rateLimited`; the store's errors.
    package func client(id: String, address: String) async throws -> AuthorizationClient {
        guard ClientMetadataDocument.isMeant(by: id) else {
            guard let record = try await securityGuard.clients.usable(id: id), !record.redirectURIs.isEmpty else {
                throw AuthorizationPageFault(.clientUnknown, "The application that asks for access is not known here.")
            }
            return Self.client(record)
        }
        guard let url = ClientMetadataDocument.url(ofClientID: id) else {
            throw AuthorizationPageFault(
                .clientUnknown, "The address that the application has as its name is malformed.")
        }
        if try await store.client(id: id)?.disabled == true {
            throw AuthorizationPageFault(.clientUnknown, "The application that asks for access is not known here.")
        }
        if await documents.remembered(url) == nil {
            try await count("client document", address, limit: settings.fetchesPerHour)
        }
        switch await documents.client(url) {
        case .success(let client): return client
        case .failure(let fault):
            audit(AuditEvent(.clientRefused, reason: fault.rawValue, clientID: url.host))
            throw AuthorizationPageFault(
                .clientUnknown, "What the application publishes about itself can't be fetched or is not acceptable.")
        }
    }

    private static func client(_ record: ClientRecord) -> AuthorizationClient {
        AuthorizationClient(
            id: record.clientID, name: record.name, origin: .init(rawValue: record.origin) ?? .registered,
            redirectURIs: record.redirectURIs.compactMap { RedirectURI($0) }, scopes: record.scope,
            tenantID: record.tenantID.isEmpty ? nil : record.tenantID)
    }

    /// Whether the client may use the token endpoint without a secret: it has none, and is known and not disabled.
    /// - Returns: its record; nil if it may not.
    package func publicClient(id: String) async throws -> ClientRecord? {
        guard let record = try await securityGuard.clients.usable(id: id), record.isPublic else { return nil }
        return record
    }

    /// Registers a client (RFC 7591).
    /// - Throws: `OAuthFault` for metadata that is not taken; ``AgentAccessFault`` `.rateLimited`; the store's errors.
    package func register(_ body: JSONObject, address: String) async throws -> (ClientRecord, ClientMetadata) {
        // A registration that is refused costs nothing that has to be bounded, so it does not count.
        let metadata = try ClientMetadata(body)
        try await count("client registration", address, limit: settings.registrationsPerHour)
        let record = try await securityGuard.clients.register(
            name: metadata.name.isEmpty ? "unnamed" : metadata.name, scope: metadata.scopes,
            redirectURIs: metadata.redirectURIs.map(\.text), lifetime: settings.registrationLifetime)
        audit(AuditEvent(.clientRegistered, clientID: record.clientID))
        return (record, metadata)
    }

    private func count(_ what: String, _ address: String, limit: Int64?) async throws {
        guard let limit else { return }
        let sum = try await store.count(key: "\(what) \(address)", adding: 1, window: Self.hour, now: clock())
        guard sum > limit else { return }
        // What is refused does not count: it may be allowed once the limit is raised.
        _ = try await store.count(key: "\(what) \(address)", adding: -1, window: Self.hour, now: clock())
        throw AgentAccessFault(.rateLimited, "Too many in an hour from this address.")
    }
}
