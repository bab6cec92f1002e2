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

extension Payload {
    static func token(_ text: String) -> Payload {
        .token(Array(text.utf8))
    }

    static func authorization(_ values: [String]) -> Payload {
        .authorization(values.map { Array($0.utf8) })
    }
}
