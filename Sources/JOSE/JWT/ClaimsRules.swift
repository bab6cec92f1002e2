/// What the claims of a token must say (RFC 7519 §4.1, RFC 9068 §4).
public struct ClaimsRules: Sendable {
    /// The one issuer, byte for byte; nil asks for none.
    public var issuer: String?
    /// The audiences we are; the token must name one of them, byte for byte. Empty asks for none.
    public var audience: [String]
    /// The `typ` values accepted, with or without `application/`; empty asks for none.
    public var types: [String]
    /// The one subject, byte for byte; nil asks for none.
    public var subject: String?
    /// Claims that must be there; strings among them must not be empty.
    public var requiredClaims: [String] {
        didSet { required = requiredClaims.map(RequiredClaim.init) }
    }
    private(set) var required: [RequiredClaim]
    /// The seconds by which clocks may differ, from 0 to 60.
    public var leeway: Double {
        didSet { leeway = Self.clamped(leeway) }
    }
    /// The longest time from `iat` to `exp`, in seconds; nil sets no bound.
    public var maximumLifetime: Double?
    /// Whether a token past its `exp` still counts, as proof for ending what it began.
    public var acceptsExpired: Bool
    /// More rules, asked after the others and before `exp`.
    public var additional: [ClaimRule]

    /// Rules that ask for `exp` and nothing else, unless told otherwise.
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

    /// The rules of a JWT access token (RFC 9068).
    public static func accessToken(issuer: String, audience: [String], leeway: Double = 0) -> ClaimsRules {
        ClaimsRules(
            issuer: issuer, audience: audience, types: ["at+jwt"],
            requiredClaims: ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"], leeway: leeway)
    }

    private static func clamped(_ leeway: Double) -> Double {
        leeway.isFinite ? min(max(leeway, 0), 60) : 0
    }
}

/// The name of a claim that must be there, told apart once and not for each token.
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

/// One more rule about a token.
public struct ClaimRule: Sendable {
    /// The refusal, or nil if the rule is kept; `now` is in seconds since 1970.
    public let refusal: @Sendable (_ header: ProtectedHeader, _ claims: Claims, _ now: Double) -> TokenRefusal?

    /// A rule of your own.
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

    /// A claim must be a string of at most so many bytes, if it is there.
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
