/// One file of the page, as it is served.
package struct WebAsset: Sendable {
    /// The path it answers to.
    package let path: String
    package let contentType: String
    /// Strong entity tag, quotes included.
    package let etag: String
    package let bytes: [UInt8]

    fileprivate init(path: String, contentType: String, bytes: [UInt8]) {
        self.path = path
        self.contentType = contentType
        self.etag = Self.etag(of: bytes)
        self.bytes = bytes
    }

    /// Whether an `If-None-Match` value already names this content: then the answer is 304.
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

    /// FNV-1a and the length. It names our own files among themselves; nobody gains by a collision.
    private static func etag(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return "\"" + String(hash, radix: 36) + "-" + String(bytes.count, radix: 36) + "\""
    }
}

/// The page at `/` and its parts. They lie inside the binary, so that one file is all there is to install.
package enum WebAssets {
    /// Every asset, the page first. Their paths are the gateway's own and win over routes.
    package static let all: [WebAsset] = [
        WebAsset(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        WebAsset(path: "/gatehouse.js", contentType: script, bytes: PackageResources.gatehouse_js),
        WebAsset(path: "/console.js", contentType: script, bytes: PackageResources.console_js),
        WebAsset(path: "/console.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.console_css),
        WebAsset(path: "/favicon.svg", contentType: "image/svg+xml", bytes: PackageResources.favicon_svg),
    ]

    /// Sent with every asset, besides `Content-Type`, `Content-Length` and `ETag`.
    ///
    /// Nothing but our own files runs or loads, and nobody frames the page. `connect-src 'self'` covers the sockets
    /// of the same origin. `form-action 'none'`: a login form without its script must not send a password anywhere.
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

    /// The asset that answers to a canonical path, if there is one.
    package static func asset(for path: String) -> WebAsset? {
        all.first { $0.path.utf8.elementsEqual(path.utf8) }
    }

    private static let script = "text/javascript; charset=utf-8"
}
