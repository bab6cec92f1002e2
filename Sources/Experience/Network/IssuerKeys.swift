import EdgeConfiguration
import IdentityProviders

/// Where the key set of a trusted issuer is, and how it is fetched: at addresses that may be connected to, without
/// redirects, within seconds.
struct IssuerKeys: Sendable {
    /// The issuer, as its tokens name it.
    let issuer: String
    /// The URL of the key set; nil to find it by the issuer's metadata.
    let url: EndpointURL?
    /// Which addresses may be connected to.
    let addresses: AddressGuard
    let fetch: ProviderFetch

    /// The key set. Fetched at each call; the caller remembers it.
    ///
    /// - Throws: `ProviderFault`, or ``GatewayError`` if the answer is no key set.
    func keySet() async throws -> [UInt8] {
        let answer = try await get(try await keySetURL())
        guard answer.status == 200 else {
            throw GatewayError(.keySetUnavailable, "the key set answered \(answer.status)")
        }
        return answer.body
    }

    private func keySetURL() async throws -> EndpointURL {
        if let url { return url }
        var failure: any Error = GatewayError(.keySetUnavailable, "the issuer \(issuer) is no URL")
        for place in Self.metadata(of: issuer) {
            do {
                return try ProviderMetadata.keySetURL(try await get(place), issuer: issuer)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Where an issuer's metadata may be: OpenID Connect Discovery 1.0 §4, and RFC 8414 §3.1, which puts the path of
    /// the issuer behind the well-known one. Empty for an issuer that is no http or https URL, or that has a query.
    static func metadata(of issuer: String) -> [EndpointURL] {
        guard let url = EndpointURL(issuer), !url.hasQuery else { return [] }
        let origin = String(issuer.dropLast(url.target.count))
        let path = url.target.utf8.last == UInt8(ascii: "/") ? String(url.target.dropLast()) : url.target
        return [
            ProviderMetadata.url(ofIssuer: issuer),
            EndpointURL(origin + "/.well-known/oauth-authorization-server" + path),
        ]
        .compactMap { $0 }
    }

    private func get(_ url: EndpointURL) async throws -> ProviderAnswer {
        try await fetch(
            ProviderRequest(
                .get, url, headers: [("accept", "application/json, application/jwk-set+json")], addresses: addresses),
            ProviderRequest.timeout)
    }
}
