/// The description of a case.
public struct CaseInfo: Sendable, Equatable {
    /// The id, which begins with its row, such as `J01`. Ids are stable across versions.
    public let id: String
    /// What is tried, in one line.
    public let title: String
    /// The standard or the incident it is taken from.
    public let reference: String
    /// What a correct target does, in words.
    public let expected: String
    /// The group within the family, such as `signature`.
    public let group: String
    /// What is needed to run it.
    public let needs: [Need]

    /// A description.
    public init(id: String, title: String, reference: String, expected: String, group: String, needs: [Need]) {
        self.id = id
        self.title = title
        self.reference = reference
        self.expected = expected
        self.group = group
        self.needs = needs
    }

    /// The first letter of the id: J for tokens, S for sessions, R for refresh tokens, O for OAuth, W for WebSockets, P
    /// for the proxy, H for HTTP between proxy and upstream.
    public var family: String { String(id.prefix(1)) }
}

extension Attack {
    /// The description.
    public var info: CaseInfo {
        let needs: [Need] =
            mode == .signed ? [.token, .jwt, .key] : [.token, .jwt]
        return CaseInfo(
            id: id, title: title, reference: reference, expected: expectation.text, group: category.rawValue,
            needs: needs)
    }

    /// The purpose of the case, for people.
    public var explanation: String {
        let power =
            mode == .signed
            ? "It is signed with a key that the target trusts, so that only the check in question can refuse it."
            : "It is made from a good token and the published keys alone."
        let policy = isPolicy ? " It is a matter of policy, judged with --strict only." : ""
        return "One request carries this in the place of the token. \(power)\(policy)"
    }
}
