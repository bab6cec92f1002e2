import AgentTools
import Runtime

/// A stream of events that answers a request.
enum ToolStream: Sendable {
    /// Of one call: its progress and its answer.
    case call(ToolRun)
    /// The rest of a call's stream that has broken.
    case resume(RPCID, Permit, ToolEra)
    /// Of the session, after the event of this number; nil for new events only.
    case listen(Permit, after: Int64?, ToolEra)

    /// Whether it lasts as long as the client likes, and not as long as a call.
    var isLasting: Bool {
        if case .call = self { false } else { true }
    }

    /// Whether it is the session's own, which ends in order where the gateway stops.
    var listens: Bool {
        if case .listen = self { true } else { false }
    }

    /// Of the session that the stream belongs to.
    var permit: Permit {
        switch self {
        case .call(let run): run.permit
        case .resume(_, let permit, _), .listen(let permit, _, _): permit
        }
    }
}
