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
