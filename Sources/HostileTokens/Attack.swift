/// One hostile token or request: what is sent, and how a correct target answers.
public struct Attack: Sendable, Identifiable {
    /// The id, such as `J01-none-lowercase-stripped`. Ids are stable across versions.
    public let id: String
    /// What is sent, in one line.
    public let title: String
    /// The standard or the incident it is taken from.
    public let reference: String
    /// The family it belongs to.
    public let category: AttackCategory
    /// What the attacker must have.
    public let mode: AttackMode
    /// What a correct target does.
    public let expectation: Expectation
    private let build: @Sendable (AttackMaterial) throws -> Payload?

    /// An attack.
    ///
    /// - Parameters:
    ///   - id: a stable id.
    ///   - title: what is sent, in one line.
    ///   - reference: the standard or the incident it is taken from.
    ///   - category: the family.
    ///   - mode: what the attacker must have.
    ///   - expectation: what a correct target does.
    ///   - build: makes the payload, or returns nil if the attack does not apply to the target's key or token.
    public init(
        id: String, title: String, reference: String, category: AttackCategory, mode: AttackMode = .blackBox,
        expectation: Expectation = .tokenRefused, build: @escaping @Sendable (AttackMaterial) throws -> Payload?
    ) {
        self.id = id
        self.title = title
        self.reference = reference
        self.category = category
        self.mode = mode
        self.expectation = expectation
        self.build = build
    }

    /// Whether correct targets may differ: the standards leave the answer open and Gatehouse refuses it, or the token
    /// should be accepted and refusing it is no vulnerability.
    public var isPolicy: Bool { expectation.isAccepted || Self.policies.contains { Glob.matches($0, id) } }

    private static let policies = [
        "J21-exp-milliseconds", "J21-exp-2-*", "J21-exp-9e18", "J21-exp-many-digits", "J22-iat-future",
        "J22-iat-after-exp", "J26-size-8k-*", "J28-carrier-field-and-query", "J28-carrier-two-fields*",
        // `kid` is optional (RFC 7515 section 4.1.4).
        "J07-signed-*", "J16-claim-depth-33-*",
        // Who doesn't know `b64` ignores it where `crit` does not name it (RFC 7515 section 4). `cty` is only not
        // recommended for plain claims (RFC 7519 section 5.2). A negative NumericDate is one, and past.
        "J18-crit-b64-false-alone", "J20-cty-jwt", "J22-nbf-negative",
    ]

    /// What to send, or nil if the attack does not apply to the target's key, its token or the material.
    public func payload(from material: AttackMaterial) throws -> Payload? {
        try build(material)
    }
}

extension Attack: CustomStringConvertible {
    /// The id, which is how test runs name the argument.
    public var description: String { id }
}

/// What the attacker must have.
public enum AttackMode: String, Sendable, CaseIterable {
    /// One valid token and the published keys.
    case blackBox = "black-box"
    /// A key that the target trusts, so that the signature is valid and only the check under test can refuse the token.
    case signed
}

/// The families of attacks.
public enum AttackCategory: String, Sendable, CaseIterable {
    /// J01: `alg` says that there is no signature (RFC 7518 section 3.6, RFC 8725 section 3.2).
    case none
    /// J02: the signature does not belong to the content (RFC 7515 section 5.2).
    case signature
    /// J03: a public key as the secret of an HMAC (RFC 8725 section 2.1).
    case confusion
    /// J04: the right key under another algorithm (RFC 8725 section 3.1).
    case algorithm
    /// J05, J06: a key or certificate in the header (RFC 7515 sections 4.1.3 and 4.1.6).
    case embeddedKey = "embedded-key"
    /// J06: a URL of a key in the header (RFC 7515 sections 4.1.2 and 4.1.5).
    case remoteKey = "remote-key"
    /// J07: a `kid` that is not the name of a key (RFC 7515 section 4.1.4).
    case keyID = "key-id"
    /// J09, J10, J33: ECDSA signatures out of range or of a wrong length (RFC 7518 section 3.4).
    case ecdsa
    /// J11: EdDSA signatures out of range (RFC 8032 section 5.1.7).
    case eddsa
    /// J12: RSA signatures out of range (RFC 8017 section 8.2.2).
    case rsa
    /// J13: a second encoding of the same bytes (RFC 7515 section 2).
    case base64url
    /// J14: not three segments (RFC 7515 section 3.1).
    case segments
    /// J15: a member twice (RFC 7515 section 4, RFC 7519 section 4).
    case duplicates
    /// J16: malformed JSON (RFC 8259).
    case json
    /// J17: malformed or misleading Unicode (RFC 8259 section 8).
    case text
    /// J18: critical extensions (RFC 7515 section 4.1.11).
    case critical
    /// J19: another kind of token (RFC 8725 section 3.11).
    case type
    /// J20: nested, encrypted or JSON-serialised tokens (RFC 7515 section 7.2).
    case format
    /// J21, J22: `exp`, `nbf` and `iat` (RFC 7519 sections 4.1.4 to 4.1.6).
    case time
    /// J23: `aud` (RFC 7519 section 4.1.3).
    case audience
    /// J24: `iss` (RFC 8725 section 3.8).
    case issuer
    /// J25: the other claims of access tokens (RFC 9068 section 2.2).
    case claims
    /// J26: tokens that are too large.
    case size
    /// J28: where and how the token is sent (RFC 6750 section 2).
    case carrier
    /// S03: credentials of another kind (RFC 8725 section 3.12).
    case swapped
}

/// What is sent in an attack.
public enum Payload: Sendable, Equatable {
    /// Sent in place of the token, over any transport.
    case token([UInt8])
    /// Sent as values of `Authorization`, one field line each, and optionally as `access_token` in the query. Only over
    /// plain HTTP requests.
    case authorization([[UInt8]], query: [UInt8]? = nil)

    /// The number of bytes.
    public var byteCount: Int {
        switch self {
        case .token(let bytes): bytes.count
        case .authorization(let values, let query): values.reduce(query?.count ?? 0) { $0 + $1.count }
        }
    }
}

extension Payload {
    static func token(_ text: String) -> Payload {
        .token(Array(text.utf8))
    }

    static func authorization(_ values: [String]) -> Payload {
        .authorization(values.map { Array($0.utf8) })
    }
}
