import IdentityProviders

/// A document as it was fetched.
package struct FetchedDocument: Sendable {
    /// The HTTP status.
    package let status: Int
    /// The `Content-Type`.
    package let contentType: String?
    /// The `Cache-Control`.
    package let cacheControl: String?
    /// The body, at most ``ClientMetadataDocument/maximumBytes`` and one.
    package let body: [UInt8]

    package init(status: Int, contentType: String?, cacheControl: String?, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.body = body
    }

    /// Whether it is a JSON document that was found.
    package var isJSON: Bool {
        let type = (contentType ?? "").lowercased().prefix { $0 != ";" && $0 != " " }
        return status == 200
            && (type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json")))
    }
}

/// Fetches a document: follows no redirect, connects only to addresses that may be reached, and gives up after
/// ``ClientMetadataDocument/timeout`` or with the first byte beyond ``ClientMetadataDocument/maximumBytes``.
package typealias DocumentFetch = @Sendable (_ url: EndpointURL) async throws -> FetchedDocument
