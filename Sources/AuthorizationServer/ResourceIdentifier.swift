import Encodings
import IdentityProviders

/// The identifier of a protected resource (RFC 8707 section 2), in the one form in which identifiers are compared:
/// scheme and host in lower case, an IPv6 address as in RFC 5952, no default port, and `/` for an empty path. Path and
/// query are compared exactly.
package struct ResourceIdentifier: Sendable, Hashable {
    /// The form that is compared.
    package let normalized: String

    /// Reads an identifier; nil unless it is an absolute `http` or `https` URL without fragment and user information.
    package init?(_ text: String) {
        guard text.utf8.count <= EndpointURL.maximumBytes, let url = EndpointURL(Self.loweringOrigin(of: text)) else {
            return nil
        }
        let scheme = url.isHTTPS ? "https" : "http"
        let isV6 = url.host.utf8.contains(UInt8(ascii: ":"))
        let host = isV6 ? "[\(url.address?.canonicalText ?? url.host)]" : url.host
        let port = url.port == (url.isHTTPS ? 443 : 80) ? "" : ":\(url.port)"
        let isBare = url.target.utf8.isEmpty || url.target.utf8.first == UInt8(ascii: "?")
        normalized = "\(scheme)://\(host)\(port)\(isBare ? "/" : "")\(url.target)"
    }

    /// The URL with scheme and host in lower case (RFC 3986 section 6.2.2.1); path and query stay.
    static func loweringOrigin(of url: String) -> String {
        guard let mark = url.firstRange(of: "://") else { return url }
        let end = url[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        return url[..<end].lowercased() + url[end...]
    }

    /// Whether two texts identify the same resource.
    package static func areSame(_ a: String, _ b: String) -> Bool {
        guard let a = ResourceIdentifier(a), let b = ResourceIdentifier(b) else { return false }
        return a.normalized.hasSameBytes(as: b.normalized)
    }

    /// Whether an issuer is an origin in its normal form: lower-case scheme and host, no default port, no path, slash,
    /// query, fragment or user information. Clients compare it byte by byte (RFC 8414 section 3.3, RFC 9207).
    package static func isOrigin(_ issuer: String) -> Bool {
        guard let url = EndpointURL(issuer), url.target.utf8.isEmpty, let same = ResourceIdentifier(issuer) else {
            return false
        }
        return same.normalized.hasSameBytes(as: issuer + "/")
    }

    /// The identifier of a route's resource: the issuer followed by the route's path, or the issuer alone for `/`.
    package static func identifier(issuer: String, path: String) -> String {
        path.utf8.elementsEqual("/".utf8) ? issuer : issuer + path
    }
}
