import Encodings
import IdentityProviders

/// Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client whose id is the https URL of
/// its metadata.
package enum ClientMetadataDocument {
    /// The longest document in bytes.
    package static let maximumBytes = 64 * 1024
    /// How long fetching may take, in milliseconds.
    package static let timeout: Int64 = 5_000
    /// The longest client id in bytes.
    package static let maximumIDBytes = 512
    /// How long a document is used, in milliseconds, whatever its header fields say.
    package static let freshness: ClosedRange<Int64> = 300_000...86_400_000

    /// Why a document is refused.
    package enum Fault: String, Error, Sendable {
        case unreachable = "document_unreachable"
        case tooLarge = "document_too_large"
        case malformed = "document_malformed"
        case foreign = "document_names_another_client"
        case authentication = "document_authentication_unsupported"
    }

    /// The URL of a client id; nil unless it is https with a path other than `/`, without dot segments (escaped ones
    /// among them, which servers and URL libraries resolve as well), fragment and user information.
    package static func url(ofClientID id: String) -> EndpointURL? {
        guard id.utf8.count <= maximumIDBytes, let url = EndpointURL(id), url.isHTTPS else { return nil }
        let path = url.target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard path.first == UInt8(ascii: "/"), path.count > 1,
            !segments.contains(where: isDotSegment)
        else { return nil }
        return url
    }

    /// The host that vouches for the client of such an id; nil if the text is none.
    package static func host(ofClientID id: String) -> String? { url(ofClientID: id)?.host }

    /// Whether a segment is `.` or `..`, with any of its dots as `%2e` (URL standard, "double-dot URL path segment").
    private static func isDotSegment(_ segment: Substring.UTF8View) -> Bool {
        let text = String(decoding: segment, as: UTF8.self).lowercased()
        return [".", "%2e", "..", ".%2e", "%2e.", "%2e%2e"].contains { text.hasSameBytes(as: $0) }
    }

    /// Whether a text is meant as such an id: it begins like an https URL.
    package static func isMeant(by id: String) -> Bool { id.utf8.starts(with: "https://".utf8) }

    /// The client that a document describes.
    package static func client(id: EndpointURL, body: [UInt8]) throws(Fault) -> AuthorizationClient {
        guard body.count <= maximumBytes else { throw .tooLarge }
        guard let object = try? StrictJSON.object(body) else { throw .malformed }
        guard object["client_id"]?.stringValue?.hasSameBytes(as: id.text) == true else { throw .foreign }
        // A document is public, so it can hold no secret, and a signing key is not supported.
        let method = object["token_endpoint_auth_method"]
        guard method == nil || method?.stringValue?.hasSameBytes(as: "none") == true, object["client_secret"] == nil
        else { throw .authentication }
        guard let metadata = try? ClientMetadata(object) else { throw .malformed }
        return AuthorizationClient(
            id: id.text, name: metadata.name.isEmpty ? id.host : metadata.name, origin: .document,
            redirectURIs: metadata.redirectURIs, scopes: metadata.scopes, host: id.host)
    }

    /// How long a document may be used, in milliseconds, from its `Cache-Control` (RFC 9111 section 5.2.2).
    package static func freshness(cacheControl: String?) -> Int64 {
        let directives = (cacheControl ?? "").lowercased().split(separator: ",").map { part in
            part.drop { $0 == " " }.prefix { $0 != " " }
        }
        if directives.contains("no-store") || directives.contains("no-cache") { return freshness.lowerBound }
        for directive in directives where directive.hasPrefix("max-age=") {
            guard let seconds = Int64(directive.dropFirst(8)), seconds >= 0 else { continue }
            let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
            return overflow ? freshness.upperBound : min(max(milliseconds, freshness.lowerBound), freshness.upperBound)
        }
        return freshness.lowerBound
    }
}
