/// One case: a hostile token, or a conversation of several requests.
public enum HostileCase: Sendable {
    /// One token in one request.
    case token(Attack)
    /// A conversation of any number of requests.
    case probe(Probe)

    /// The description.
    public var info: CaseInfo {
        switch self {
        case .token(let attack): attack.info
        case .probe(let probe): probe.info
        }
    }

    /// The purpose of the case, for people.
    public var explanation: String {
        switch self {
        case .token(let attack): attack.explanation
        case .probe(let probe): probe.explanation
        }
    }
}
