/// One file of the console page, as it is served.
package struct WebAsset: Sendable {
    /// The path it is served at.
    package let path: String
    /// The value of `Content-Type`.
    package let contentType: String
    /// The strong entity tag (RFC 9110 section 8.8.3), including its quotes.
    package let etag: String
    /// The content.
    package let bytes: [UInt8]

    fileprivate init(path: String, contentType: String, bytes: [UInt8]) {
        self.path = path
        self.contentType = contentType
        self.etag = Self.etag(of: bytes)
        self.bytes = bytes
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

/// The console page at `/` and its parts. They are embedded in the binary, so that there are no files to install beside
/// it.
package enum WebAssets {
    /// All assets, the page first. Their paths are reserved: they are matched before the configured routes.
    package static let all: [WebAsset] = [
        WebAsset(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        WebAsset(path: "/gatehouse.js", contentType: script, bytes: PackageResources.gatehouse_js),
        WebAsset(path: "/console.js", contentType: script, bytes: PackageResources.console_js),
        WebAsset(path: "/console.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.console_css),
        WebAsset(path: "/favicon.svg", contentType: "image/svg+xml", bytes: PackageResources.favicon_svg),
    ]

    /// Sent with every asset, besides `Content-Type`, `Content-Length` and `ETag`.
    ///
    /// Only the gateway's own files are loaded and run, and the page cannot be framed. `connect-src 'self'` includes
    /// WebSockets to the same origin. `form-action 'none'` prevents that the login form sends a password by itself if
    /// its script did not load.
    package static let headers: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ("Cache-Control", "no-cache"),
    ]

    /// The asset at a canonical path, or nil.
    package static func asset(for path: String) -> WebAsset? {
        all.first { $0.path.utf8.elementsEqual(path.utf8) }
    }

    private static let script = "text/javascript; charset=utf-8"
}
