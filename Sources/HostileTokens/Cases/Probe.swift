/// A case that takes several requests. The verdict depends on their answers.
///
/// Its conversation runs after a control request that was accepted, and a pass counts only if the control behind it is
/// accepted too: see ``Runner``. Probes run one after the other; requests of one probe may run at the same time.
public struct Probe: Sendable, Identifiable {
    /// The id, such as `R01-reuse`. Ids are stable across versions.
    public let id: String
    /// What is tried, in one line.
    public let title: String
    /// The standard or the incident it is taken from.
    public let reference: String
    /// What a correct target does.
    public let expected: String
    /// What is needed to run it.
    public let needs: [Need]
    private let converse: @Sendable (Conversation) async throws -> Judgement

    /// A probe. Its parameters are the properties of those names.
    ///
    /// - Parameter converse: sends the requests and returns the verdict. It throws ``Unfit`` and ``Unjudged`` as they
    ///   say.
    init(
        _ id: String, _ title: String, reference: String, expected: String, needs: [Need],
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) {
        self.id = id
        self.title = title
        self.reference = reference
        self.expected = expected
        self.needs = needs
        self.converse = converse
    }

    /// The description.
    public var info: CaseInfo {
        CaseInfo(id: id, title: title, reference: reference, expected: expected, group: group, needs: needs)
    }

    /// The purpose of the case, for people.
    public var explanation: String {
        switch id.prefix(1) {
        case "J": "Requests with tokens, judged by what still works afterwards and by what arrived at the upstream."
        case "S": "A conversation over the session API, judged by what an id or a secret still opens afterwards."
        case "R": "A conversation over login and refresh, judged by which tokens still work afterwards."
        case "O": "A conversation with the authorization server, judged by which codes and tokens come of it."
        case "W" where needs.contains(.canary):
            "A WebSocket that is passed on to the suite's own upstream, judged by what arrives there and at the client."
        case "W": "A WebSocket handshake, judged by whether the target answers 101 and for how long the socket lives."
        default: "A request on a connection of its own, judged by the answer and by what reached the upstream."
        }
    }

    private var group: String {
        switch id.prefix(1) {
        case "J": id.hasPrefix("J08") ? "key-id" : id.hasPrefix("J27") ? "revocation" : "reflection"
        case "S": "sessions"
        case "R": "refresh"
        case "O": "oauth"
        case "W": "websocket"
        default: "proxy"
        }
    }

    /// Runs the probe. If the target stops answering, the verdict is inconclusive.
    ///
    /// - Returns: what the conversation returned. A ``SendFailure`` or an ``Unjudged`` makes it inconclusive, an
    ///   ``Unfit`` skipped.
    /// - Throws: any other error, such as a cancellation, which ends the run.
    func judge(_ conversation: Conversation) async throws -> Judgement {
        do {
            return try await converse(conversation)
        } catch let failure as SendFailure {
            return Judgement(failure)
        } catch let failure as Unjudged {
            return Judgement(.inconclusive, failure.reason)
        } catch let failure as Unfit {
            return Judgement(.skipped, failure.reason)
        }
    }
}

/// A preparatory step of a probe failed, so the case cannot be judged.
///
/// It is thrown when a control of the probe's own was refused, so that a refusal of the attack would prove nothing.
struct Unjudged: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// The probe does not apply to this target.
///
/// It is thrown before the attack is sent: the case counts as neither passed nor failed.
struct Unfit: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
