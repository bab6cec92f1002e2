/// The paths that are the gateway's own; they win over routes.
package enum OwnPath {
    /// The JSON endpoints; the path as their router knows it (`/api/sessions…` is `/api/session…`).
    case api(String)
    /// The decision endpoint, with the path appended to it, if any.
    case verify(appended: [UInt8])
    /// The agent socket.
    case agent
    /// The diagnostic echo socket.
    case echo
    /// Anything else under `/api/runtime/`.
    case runtime

    package init?(_ path: [UInt8]) {
        // Most traffic is not for the gateway itself: one look tells.
        guard path.count > 4 else { return nil }
        switch path[1] {
        case UInt8(ascii: "a"), UInt8(ascii: "o"), UInt8(ascii: "."): break
        default: return nil
        }
        if Self.isOrBelow(path, "/api/auth/verify") {
            self = .verify(appended: Array(path.dropFirst("/api/auth/verify".utf8.count)))
        } else if path.elementsEqual("/api/runtime/agent".utf8) {
            self = .agent
        } else if path.elementsEqual("/api/runtime/echo".utf8) {
            self = .echo
        } else if Self.isOrBelow(path, "/api/runtime") {
            self = .runtime
        } else if Self.isOrBelow(path, "/api/sessions") {
            self = .api("/api/session" + String(decoding: path.dropFirst("/api/sessions".utf8.count), as: UTF8.self))
        } else if Self.apiPrefixes.contains(where: { Self.isOrBelow(path, $0) }) {
            self = .api(String(decoding: path, as: UTF8.self))
        } else {
            return nil
        }
    }

    private static let apiPrefixes = [
        "/api/session", "/api/auth", "/api/intent", "/oauth2", "/.well-known/jwks.json",
        "/.well-known/oauth-authorization-server",
    ]

    private static func isOrBelow(_ path: [UInt8], _ prefix: String) -> Bool {
        guard path.starts(with: prefix.utf8) else { return false }
        let count = prefix.utf8.count
        return path.count == count || path[count] == UInt8(ascii: "/")
    }
}
