import AgentTools
import HTTPWire
import SecurityGuard

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
