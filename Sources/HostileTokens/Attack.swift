/// One way to cheat a verifier: what to send, and what a good target answers.
public struct Attack: Sendable, Identifiable {
    /// A name that does not change, such as `J01-none-lowercase-stripped`.
    public let id: String
    /// What is sent, in one line.
    public let title: String
    /// The standard or the incident behind it.
    public let reference: String
    /// The family it belongs to.
    public let category: AttackCategory
    /// What the attacker must have.
    public let mode: AttackMode
    /// What a good target does.
    public let expectation: Expectation
    private let build: @Sendable (AttackMaterial) throws -> Payload?

    /// An attack.
    ///
    /// - Parameters:
    ///   - id: a name that does not change.
    ///   - title: what is sent, in one line.
    ///   - reference: the standard or the incident behind it.
    ///   - category: the family.
    ///   - mode: what the attacker must have.
    ///   - expectation: what a good target does.
    ///   - build: makes the payload; nil where it does not fit the target's key or token.
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

    /// Whether targets may differ: standards leave it open, and Gatehouse refuses it; or it is to be accepted, and a
    /// target that refuses it lets nothing through.
    public var isPolicy: Bool { expectation.isAccepted || Self.policies.contains { Glob.matches($0, id) } }

    private static let policies = [
        "J21-exp-milliseconds", "J21-exp-2-*", "J21-exp-9e18", "J21-exp-many-digits", "J22-iat-future",
        "J22-iat-after-exp", "J26-size-8k-*", "J28-carrier-field-and-query", "J28-carrier-two-fields*",
        // One key needs no name (RFC 7515 §4.1.4).
        "J07-signed-*", "J16-claim-depth-33-*",
    ]

    /// What to send; nil where the attack does not fit the target's key, token or the material at hand.
    public func payload(from material: AttackMaterial) throws -> Payload? {
        try build(material)
    }
}

/// What the attacker must have.
public enum AttackMode: String, Sendable, CaseIterable {
    /// One good token and the published keys.
    case blackBox = "black-box"
    /// A key that the target trusts: a right signature over odd bytes, so that only the check in question can refuse.
    case signed
}

/// The families of attacks.
public enum AttackCategory: String, Sendable, CaseIterable {
    case none
    case signature
    case confusion
    case algorithm
    case embeddedKey = "embedded-key"
    case remoteKey = "remote-key"
    case keyID = "key-id"
    case ecdsa
    case eddsa
    case rsa
    case base64url
    case segments
    case duplicates
    case json
    case text
    case critical
    case type
    case format
    case time
    case audience
    case issuer
    case claims
    case size
    case carrier
    case swapped
}

/// What is sent in an attack.
public enum Payload: Sendable, Equatable {
    /// In the place of the token, whatever the transport.
    case token([UInt8])
    /// As `Authorization` field values, one line each, and perhaps as the query's `access_token`; over HTTP only.
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
