import HTTPWire
import NIOCore

/// A route's path as a configuration writes it.
package enum RoutePath {
    /// The one spelling of a route's prefix, that of ``CanonicalPath``, without a final slash; nil for a path that no
    /// request could match (dot segments, empty segments, escaped slashes) or that two servers might read differently.
    ///
    /// So a request matches a route even when both spell the same path differently.
    package static func canonical(_ text: String) -> String? {
        var escaped = ByteBuffer()
        for byte in text.utf8 {
            guard byte > 0x20, byte < 0x7f, !"?#;\\".utf8.contains(byte) else { return nil }
            if "\"<>^`{|}".utf8.contains(byte) {
                escaped.writeString("%" + String(byte, radix: 16))
            } else {
                escaped.writeInteger(byte)
            }
        }
        guard escaped.readableBytes > 0, escaped.readableBytes <= WireLimits().maxTarget,
            let path = try? CanonicalPath(escaped), !path.hasParameters
        else { return nil }
        let canonical = path.string
        return canonical.utf8.count > 1 && canonical.hasSuffix("/") ? String(canonical.dropLast()) : canonical
    }
}
