/// A setting that can't be used. Errors of the same code are equal.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The address can't be read as `HOST:PORT`.
        case addressUnreadable = "address_unreadable"
        /// The passphrase is empty, or longer than 1024 bytes.
        case passphraseLength = "passphrase_length"
        /// The name or the value of a header field that a route sets contains forbidden bytes.
        case headerMalformed = "header_malformed"
        /// A route is a resource, and the issuer is no origin in its normal form.
        case issuerNoOrigin = "issuer_no_origin"
        /// A route is a resource, and asks for something else than a token, or passes it on.
        case resourceContradicted = "resource_contradicted"
        /// Two routes of different hosts are resources at one path, by which resources are told apart.
        case resourceDoubled = "resource_doubled"
        /// A resource names an authorization server that is neither the gateway nor one of `issuers` with one tenant.
        case authorizationServerUnknown = "authorization_server_unknown"
        /// `runtime.mcp` beside an external Runtime, or beside a route at the same path.
        case toolsContradicted = "tools_contradicted"
        /// A route asks for more of its callers than its `require` lets it know of them.
        case callerUnknown = "caller_unknown"
        /// A route requires client certificates, and nothing says whose.
        case clientAuthorityMissing = "client_authority_missing"
        /// The domain of passkeys is neither the issuer's host nor above it.
        case relyingPartyForeign = "relying_party_foreign"
        /// A tenant's name has forbidden characters, or is too long.
        case tenantMalformed = "tenant_malformed"
        /// A number that is too small or too large.
        case outOfBounds = "out_of_bounds"
        /// An entry of `identity_providers` can't be used.
        case providerRefused = "provider_refused"
        /// Only the executable `gatehouse` carries the setting out, and the program that makes a `Gateway` handed over
        /// nothing that does it.
        case settingUnread = "setting_unread"
        /// A running gateway can't take over another value.
        case restartNeeded = "restart_needed"
    }

    /// What is wrong with it.
    public let code: Code
    /// The key of the setting, as in the configuration file. For the passphrase, which is in no file, it is
    /// `keys.passphrase`.
    public let key: String
    /// The allowed range, for ``Code/outOfBounds``; what is expected, for ``Code/providerRefused``; what to do instead,
    /// for ``Code/settingUnread``.
    private let bounds: String

    package init(_ code: Code, key: String, bounds: String = "") {
        self.code = code
        self.key = key
        self.bounds = bounds
    }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// One sentence for the operator; the value itself is not repeated.
    public var description: String {
        switch code {
        case .addressUnreadable: "\(key): write HOST:PORT, or [IPv6]:PORT"
        case .passphraseLength: "\(key): give 1 to 1024 bytes, or none at all"
        case .headerMalformed: "\(key): expected a field name such as X-Api-Key and a value of visible ASCII"
        case .issuerNoOrigin: "\(key): a route has 'resource', so this must be an origin such as https://host"
        case .resourceContradicted:
            "\(key): a resource needs 'require: token', and no WebSockets, 'forward_authorization' or 'cors: upstream'"
        case .resourceDoubled:
            "\(key): another host has a resource at this path, by which resources are told apart: use another path"
        case .authorizationServerUnknown:
            "\(key): list each here as 'tokens.issuer' or in 'issuers', there with exactly one tenant"
        case .toolsContradicted: "\(key): needs the embedded Runtime, and no route of yours at /mcp"
        case .callerUnknown: "\(key): 'require' asks for no credential that could meet these terms"
        case .clientAuthorityMissing: "\(key): needs server.tls.client_ca, which says whose certificates are accepted"
        case .relyingPartyForeign:
            "\(key): expected the host of tokens.issuer or a domain above it, of at least two labels"
        case .tenantMalformed: "\(key): a tenant's name has 1 to 64 letters, digits, '.', '_' and '-'"
        case .outOfBounds, .providerRefused: "\(key): expected \(bounds)"
        case .settingUnread: "\(key): a gateway inside another program does not carry this out: \(bounds)"
        case .restartNeeded: "\(key): is read when a gateway starts: keep its value, or make another gateway"
        }
    }
}
