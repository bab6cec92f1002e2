import AgentTools
import HTTPWire
import Runtime
import SecurityGuard

/// The embedded Runtime's tools, and how sessions for them are opened.
package struct ToolDesk: Sendable {
    let server: ToolServer
    /// Opens a session of a caller, and returns its id.
    let open: @Sendable (_ principal: Principal, _ clientAddress: String) async throws -> String

    package init(
        server: ToolServer,
        open: @escaping @Sendable (_ principal: Principal, _ clientAddress: String) async throws -> String
    ) {
        self.server = server
        self.open = open
    }
}

/// What a request to the tools says.
struct ToolFacts: Sendable {
    /// GET, POST and DELETE mean something; others are refused.
    let method: RequestMethod
    /// The fields of the protocol, as the request has them.
    let headers: ToolHeaders
    /// The protocol session that it names; nil in the revision without sessions.
    let session: [UInt8]?
    /// Whether memory knows that session to be the caller's.
    let isKnown: Bool
    /// `Last-Event-ID`.
    let lastEventID: String?
    /// Whether the client takes an event stream.
    let takesStream: Bool
    /// Whether the body is said to be JSON.
    let sendsJSON: Bool
    /// The caller; always a user.
    let principal: Principal
    let resource: String
    /// The name under which limits count the client.
    let client: String
    var body: [UInt8] = []
}

/// A call that is to run.
struct ToolRun: Sendable {
    let call: ToolCall
    let id: RPCID
    /// Under which the Runtime remembers the call in its session.
    let intentID: String
    let permit: Permit
    let era: ToolEra
}

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
