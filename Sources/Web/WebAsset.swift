/// One file of the gateway's pages, as it is served.
package struct WebAsset: Sendable {
    /// The readers of a file.
    enum Audience {
        /// The gateway's own pages.
        case ownPages
        /// Programs and pages of any origin: there is nothing in it that is not public.
        case everyone
    }

    /// The path it is served at.
    package let path: String
    /// The value of `Content-Type`.
    package let contentType: String
    /// The strong entity tag (RFC 9110 section 8.8.3), including its quotes.
    package let etag: String
    /// The content.
    package let bytes: [UInt8]
    /// Sent with it, besides `Content-Type`, `Content-Length` and `ETag`.
    package let headers: [(name: String, value: String)]
    /// Whether scripts of every origin may read it.
    package let isPublic: Bool

    init(path: String, contentType: String, bytes: [UInt8], for audience: Audience = .ownPages) {
        self.path = path
        self.contentType = contentType
        self.headers = audience == .ownPages ? WebAssets.headers : WebAssets.publicHeaders
        self.isPublic = audience == .everyone
        self.etag = Self.etag(of: bytes)
        self.bytes = bytes
    }

    /// Whether it is served although a route covers `/`: what other pages import, what routes send people to, and the
    /// description of the API. The rest gives way to the route.
    package var isAlwaysServed: Bool {
        path.utf8.starts(with: WebAssets.ownFolder.utf8) || path == "/gatehouse.js" || path == WebAssets.openAPIPath
    }

    /// Whether an `If-None-Match` value (RFC 9110 section 13.1.2) names this content, so that the answer is 304.
    package func matches(ifNoneMatch field: String) -> Bool {
        field.split(separator: ",").contains { candidate in
            let tag = candidate.drop { $0 == " " || $0 == "\t" }
            let opaque = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
            let end = opaque.lastIndex { $0 != " " && $0 != "\t" }
            guard let end else { return false }
            let value = opaque[...end]
            return value == "*" || value.utf8.elementsEqual(etag.utf8)
        }
    }

    /// FNV-1a and the length. It tells versions of the gateway's own files apart, so it need not resist chosen
    /// collisions.
    private static func etag(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return "\"" + String(hash, radix: 36) + "-" + String(bytes.count, radix: 36) + "\""
    }
}
