import EdgeConfiguration
import EdgeCore
import Experience
import OAuth
import SecurityGuard
import StateSurface

extension ValueFormat where Value == ListenAddress {
    /// `HOST:PORT` or `unix:/PATH`. With port 0 the system chooses the port.
    static var listenAddress: Self {
        Self(
            expects: "HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, or unix:/PATH of at most 107 bytes",
            read: { ListenAddress($0) },
            write: { $0.description })
    }
}

extension ValueFormat where Value == UInt32 {
    /// File permissions in octal digits, as for `chmod`.
    static var fileMode: Self {
        Self(
            expects: "permissions in octal digits, such as 0660",
            read: { text in
                guard text.utf8.count == 4, text.hasPrefix("0") else { return nil }
                return UInt32(text, radix: 8)
            },
            write: { mode in
                let digits = String(mode, radix: 8)
                return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
            })
    }
}

extension ValueFormat where Value == String {
    /// An origin, converted to the form that browsers send: lower case, without the default port.
    static var origin: Self {
        Self(
            expects: "an origin such as https://app.example (scheme, host and port, nothing behind them)",
            read: { text in
                guard let url = URLText(text), url.path.isEmpty, url.userInformation == nil, url.query == nil,
                    url.fragment == nil
                else { return nil }
                return url.origin
            }, write: { $0 })
    }

    /// An address or a block of addresses; `unix` stands for all peers on a Unix socket.
    static var addressBlock: Self {
        Self(
            expects: "an address, a block such as 10.0.0.0/8 or fd00::/8, or unix",
            read: { $0 == "unix" || NetworkText.isAddressBlock($0) ? $0 : nil }, write: { $0 })
    }

    /// A host name or address without a port. The final dot of a fully qualified name is removed, as it is from the
    /// host of a request.
    static var hostName: Self {
        Self(
            expects: "a host name without scheme and port, such as auth.example",
            read: { text in
                if text.hasPrefix("["), text.hasSuffix("]") {
                    return NetworkText.isIPv6(String(text.dropFirst().dropLast())) ? text.lowercased() : nil
                }
                let name = text.hasSuffix(".") ? text.dropLast() : text[...]
                let labels = name.split(separator: ".", omittingEmptySubsequences: false)
                guard NetworkText.isHostName(name), labels.allSatisfy({ !$0.isEmpty }) else { return nil }
                return name.lowercased()
            }, write: { $0 })
    }

    /// A host name for a certificate; not an address.
    static var serverName: Self {
        Self(
            expects: "a host name such as orders.internal",
            read: { NetworkText.isHostName($0) && !NetworkText.isIPv4($0) ? $0.lowercased() : nil }, write: { $0 })
    }

    /// `sqlite:PATH` or `postgres://…`.
    static var stateURL: Self {
        Self(
            expects: "sqlite:PATH or postgres://USER@HOST/DATABASE",
            read: { StoreURL($0) == nil ? nil : $0 }, write: { URLText.redacted($0) }, isSecret: true)
    }

    /// The URL of a collector of traces: scheme, host and port, without a path.
    static var collector: Self {
        Self(
            expects: "http://HOST:PORT or https://HOST:PORT",
            read: { text in
                guard let url = URLText(text), url.isHTTP, url.userInformation == nil, url.query == nil,
                    url.fragment == nil, url.path.isEmpty || url.path == "/"
                else { return nil }
                return url.origin
            }, write: { $0 })
    }

    /// An issuer for `iss`. RFC 8414 section 2 allows neither query nor fragment.
    static var issuer: Self {
        Self(
            expects: "a URL such as https://auth.example, without query and fragment",
            read: { text in
                guard let url = URLText(text), url.isHTTP, url.userInformation == nil, url.query == nil,
                    url.fragment == nil
                else { return nil }
                return text
            }, write: { $0 })
    }

    /// `http://HOST[:PORT]`, `https://…` or `unix:/PATH`.
    static func endpoint(schemes: [String]) -> Self {
        let forms = schemes.map { "\($0)://HOST:PORT" } + ["unix:/PATH"]
        return Self(
            expects: forms.joined(separator: " or "),
            read: { text in
                if text.hasPrefix("unix:/") {
                    return text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } ? text : nil
                }
                guard let url = URLText(text), schemes.contains(url.scheme), url.userInformation == nil,
                    url.query == nil, url.fragment == nil
                else { return nil }
                return text.hasSuffix("/") ? String(text.dropLast()) : text
            }, write: { $0 })
    }

    /// The URL of a key set, or the path of a file with one.
    static var keySource: Self {
        Self(
            expects: "a URL (https://…) or the path of a file",
            read: { text in
                guard !text.isEmpty, !text.utf8.contains(0) else { return nil }
                guard text.contains("://") else { return text }
                return URLText(text)?.isHTTP == true ? text : nil
            }, write: { URLText.withoutValues($0) }, isSecret: true)
    }

    /// The URL of a receiver of events, whose path and query may be a secret.
    static var receiver: Self {
        Self(
            expects: "a URL such as https://app.example/hooks, of at most 2048 bytes, without user and fragment",
            read: { text in
                guard text.utf8.count <= 2048, let url = URLText(text), url.isHTTP, url.userInformation == nil,
                    url.fragment == nil
                else { return nil }
                return text
            }, write: { URLText.withoutPath($0) }, isSecret: true)
    }

    /// A method that a route takes. It is read in any case, and kept in upper case. `*` would stand for itself.
    static var method: Self {
        Self(
            expects: "a method such as GET; TRACE and CONNECT are never forwarded",
            read: { text in
                let method = text.uppercased()
                return HTTPToken.matches(text) && !["TRACE", "CONNECT", "*"].contains(method) ? method : nil
            }, write: { $0 })
    }

    /// One scope token (RFC 6749 section 3.3).
    static var scope: Self {
        Self(
            expects: "one scope, without spaces or quotes", read: { Scope.isScopeToken($0) ? $0 : nil },
            write: { $0 })
    }

    /// The name of a tenant.
    static var tenant: Self {
        Self(
            expects: "a tenant's name: 1 to 64 letters, digits, '.', '_' or '-'",
            read: { NameRule.isTenant($0) ? $0 : nil }, write: { $0 })
    }

    /// The id of a user.
    static var userID: Self {
        Self(
            expects: "a user's id, usr_…; `gatehouse users list` shows them",
            read: { NameRule.hasShape($0, prefix: Prefix.user) ? $0 : nil }, write: { $0 })
    }

    /// The id of a client, or one of the gateway's own names for them.
    static var clientID: Self {
        Self(
            expects: "a client's id, such as cli_… or gatehouse", read: { NameRule.isVisible($0) ? $0 : nil },
            write: { $0 })
    }

    /// The domain of e-mails, in lower case as it is compared.
    static var emailDomain: Self {
        Self(
            expects: "the domain of e-mails, such as example.com, without '@'",
            read: { text in
                let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "@") }
                guard isPlain, (1...253).contains(text.utf8.count), !text.hasPrefix("*"), !text.hasPrefix(".") else {
                    return nil
                }
                return CallerProfile.lowerCased(text)
            }, write: { $0 })
    }

    /// The name of a group, as identity providers and `gatehouse users set` give them.
    static var group: Self {
        Self(
            expects: "a group of 1 to 128 bytes",
            read: { text in
                let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                return isPlain && (1...128).contains(text.utf8.count) ? text : nil
            }, write: { $0 })
    }

    /// The path prefix of a route, converted to the canonical form in which paths are compared.
    static var routePath: Self {
        Self(
            expects: "a path such as /orders, without '//', '.', '..', '%2F', ';', '?' or '#', "
                + "and with all but visible ASCII escaped",
            read: { RoutePath.canonical($0) }, write: { $0 })
    }

    /// The page to which browsers are sent to log in: a path of the gateway's origin, or a URL.
    static var loginURL: Self {
        Self(
            expects: "a path such as /login or a URL such as https://app.example/login",
            read: { text in
                guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
                if text.hasPrefix("/") { return text.hasPrefix("//") ? nil : text }
                guard let url = URLText(text), url.isHTTP, url.userInformation == nil else { return nil }
                return text
            }, write: { $0 })
    }
}
