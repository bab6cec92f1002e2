/// What came of an attack.
public enum Verdict: String, Sendable, CaseIterable {
    /// The target did what it should.
    case pass
    /// It did not.
    case fail
    /// It cannot be told: no answer, a rate limit, or a control request that went wrong before the attack.
    case inconclusive
}

/// One attack and what came of it.
public struct AttackResult: Sendable {
    /// The attack.
    public let attack: Attack
    /// The verdict.
    public let verdict: Verdict
    /// The status that was answered; nil if there was none.
    public let status: Int?
    /// One sentence; never a part of a token.
    public let detail: String

    /// A result.
    public init(attack: Attack, verdict: Verdict, status: Int? = nil, detail: String) {
        self.attack = attack
        self.verdict = verdict
        self.status = status
        self.detail = detail
    }
}

/// An attack that was not made.
public struct SkippedAttack: Sendable {
    /// The attack.
    public let attack: Attack
    /// Why it was not made.
    public let reason: String
}
