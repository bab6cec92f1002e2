/// The rules for `typ` and the claims of a token (RFC 7519 section 4.1, RFC 9068 section 4).
public struct ClaimsRules: Sendable {
    /// The issuer, compared byte for byte; nil accepts all.
    public var issuer: String?
    /// The audiences of this verifier, compared byte for byte: the token must name one of them. Empty accepts all.
    public var audience: [String]
    /// The `typ` values accepted, with or without `application/`; empty accepts all.
    public var types: [String]
    /// The subject, compared byte for byte; nil accepts all.
    public var subject: String?
    /// Claims that must be present. They must not be null, an empty string or an empty array.
    public var requiredClaims: [String] {
        didSet { required = requiredClaims.map(RequiredClaim.init) }
    }
    private(set) var required: [RequiredClaim]
    /// The seconds by which clocks may differ. Values are clamped to 0 to 60.
    public var leeway: Double {
        didSet { leeway = Self.clamped(leeway) }
    }
    /// The longest time from `iat` to `exp`, in seconds; nil sets no bound.
    public var maximumLifetime: Double?
    /// Whether an expired token is accepted, for requests that only end a session.
    public var acceptsExpired: Bool
    /// Further rules, checked after the others and before `exp`.
    public var additional: [ClaimRule]

    /// The rules given; by default only `exp` is required.
    ///
    /// A verifier of tokens from outside names at least the issuer and the audience (RFC 8725 sections 3.8 and 3.9).
    /// The arguments are the properties of the same names.
    public init(
        issuer: String? = nil,
        audience: [String] = [],
        types: [String] = [],
        subject: String? = nil,
        requiredClaims: [String] = ["exp"],
        leeway: Double = 0,
        maximumLifetime: Double? = nil,
        acceptsExpired: Bool = false,
        additional: [ClaimRule] = []
    ) {
        self.issuer = issuer
        self.audience = audience
        self.types = types
        self.subject = subject
        self.requiredClaims = requiredClaims
        required = requiredClaims.map(RequiredClaim.init)
        self.leeway = Self.clamped(leeway)
        self.maximumLifetime = maximumLifetime
        self.acceptsExpired = acceptsExpired
        self.additional = additional
    }

    /// The rules for a JWT access token (RFC 9068 section 4).
    ///
    /// - Parameters:
    ///   - issuer: the `iss` that it must have.
    ///   - audience: the names of this resource server, of which `aud` must have one. Empty accepts every audience.
    ///   - leeway: the seconds by which clocks may differ, 0 to 60.
    public static func accessToken(issuer: String, audience: [String], leeway: Double = 0) -> ClaimsRules {
        ClaimsRules(
            issuer: issuer, audience: audience, types: ["at+jwt"],
            requiredClaims: ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"], leeway: leeway)
    }

    private static func clamped(_ leeway: Double) -> Double {
        leeway.isFinite ? min(max(leeway, 0), 60) : 0
    }
}

/// A required claim, classified once so that it need not be done for each token.
struct RequiredClaim: Sendable {
    let name: String
    let short: ShortName?
    let isClientID: Bool

    init(_ name: String) {
        self.name = name
        short = ShortName(name)
        isClientID = name.hasSameBytes(as: ClaimName.clientID)
    }
}

/// A further rule for a token.
public struct ClaimRule: Sendable {
    /// The refusal, or nil if the rule is kept; `now` is in seconds since 1970.
    public let refusal: @Sendable (_ header: ProtectedHeader, _ claims: Claims, _ now: Double) -> TokenRefusal?

    /// A rule from a closure, which returns the refusal, or nil if the rule is kept.
    public init(_ refusal: @escaping @Sendable (ProtectedHeader, Claims, Double) -> TokenRefusal?) {
        self.refusal = refusal
    }

    /// A claim must be exactly this string.
    public static func claim(_ name: String, is wanted: String) -> ClaimRule {
        ClaimRule { _, claims, _ in
            guard let value = claims[name] else { return TokenRefusal(.claimMissing, "\(name) is missing") }
            return value == .string(wanted) ? nil : TokenRefusal(.claimInvalid, "\(name) is not the wanted one")
        }
    }

    /// A claim must be a string of at most `bytes` bytes of UTF-8, if it is present.
    public static func claim(_ name: String, atMost bytes: Int) -> ClaimRule {
        ClaimRule { _, claims, _ in
            guard let value = claims[name] else { return nil }
            guard let text = value.stringValue, text.utf8.count <= bytes else {
                return TokenRefusal(.claimInvalid, "\(name) is not a string of at most \(bytes) bytes")
            }
            return nil
        }
    }
}
