import AuthorizationServer
import EdgeConfiguration
import IdentityProviders
import NIOHTTP1
import SignIn

extension AgentSettings {
    /// The settings of a configuration. Registration is open only where there is a resource to ask for. With
    /// `limits.enabled: false` neither registrations nor the fetching of clients' documents are limited.
    ///
    /// - Parameter issuer: `tokens.issuer`, or the address that was bound where none is configured.
    init(_ configuration: GatewayConfiguration, issuer: String) {
        self.init(issuer: issuer, resources: configuration.protectedResources(issuer: issuer))
        registration = configuration.clients.registration && !resources.isEmpty
        registrationLifetime = configuration.clients.registrationLifetime
        guard configuration.limits.enabled else { return }
        registrationsPerHour = Int64(configuration.clients.registrationPerHour)
        fetchesPerHour = 60
    }
}

extension GuardedFetch {
    /// Fetches the metadata documents of clients.
    ///
    /// - Parameter allowsPrivate: whether private and loopback addresses may be connected to (`clients.allow_private`).
    func forClientDocuments(allowsPrivate: Bool) -> DocumentFetch {
        { [self] url in
            let request = ProviderRequest(
                .get, url, headers: [("Accept", "application/json")],
                addresses: AddressGuard(allowsPrivate: allowsPrivate))
            let answer = try await send(
                request, limit: ClientMetadataDocument.maximumBytes, timeout: ClientMetadataDocument.timeout)
            return FetchedDocument(
                status: answer.status, contentType: answer.headers.first(name: "content-type"),
                cacheControl: answer.headers.first(name: "cache-control"), body: answer.body)
        }
    }
}
