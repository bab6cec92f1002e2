/// How secrets are sent to browsers: the names and attributes of the gateway's cookies.
package enum CookieMode: Sendable, Equatable {
    /// Over TLS: `__Host-` names, `Secure`.
    case secure
    /// Plain http over loopback, for development: plain names, without `Secure`.
    case loopback
    /// Plain http elsewhere: no cookie is set or read. Also where TLS ended at a proxy on another machine that is not
    /// in `server.trusted_proxies`.
    case none

    /// The cookie that carries the session secret.
    package var sessionName: String? {
        switch self {
        case .secure: "__Host-gatehouse"
        case .loopback: "gatehouse"
        case .none: nil
        }
    }

    /// The cookie that carries the refresh token.
    package var refreshName: String? {
        switch self {
        case .secure: "__Host-gatehouse-refresh"
        case .loopback: "gatehouse-refresh"
        case .none: nil
        }
    }

    /// All names of the gateway's cookies, which are never forwarded to an upstream, and which upstreams may not set.
    package static let allNames = ["__Host-gatehouse", "gatehouse", "__Host-gatehouse-refresh", "gatehouse-refresh"]

    /// A word that all these names contain.
    package static let commonWord: StaticString = "gatehouse"

    /// `Set-Cookie` for a session secret; `maxAge` in seconds, 0 clears it. `SameSite=Lax`, so that it comes with the
    /// navigation back from an identity provider. Nil in the mode ``none``.
    package func sessionCookie(_ value: String, maxAge: Int64) -> String? {
        sessionName.map { cookie($0, value, maxAge: maxAge, sameSite: "Lax") }
    }

    /// `Set-Cookie` for a refresh token; `maxAge` in seconds, 0 clears it. `SameSite=Strict`: only the gateway's own
    /// pages send it. Nil in the mode ``none``.
    package func refreshCookie(_ value: String, maxAge: Int64) -> String? {
        refreshName.map { cookie($0, value, maxAge: maxAge, sameSite: "Strict") }
    }

    private func cookie(_ name: String, _ value: String, maxAge: Int64, sameSite: String) -> String {
        let secure = self == .secure ? "; Secure" : ""
        return "\(name)=\(value); Path=/; Max-Age=\(max(0, maxAge)); HttpOnly; SameSite=\(sameSite)\(secure)"
    }
}
