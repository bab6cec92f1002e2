import Answers
import HTTPWire

/// A request as the gate judges it: the client's own, or the one that a proxy in front of the gateway asks about.
package struct GateRequest {
    /// Where the request may carry credentials.
    package enum Way: Sendable, Equatable {
        /// In header fields and cookies.
        case fields
        /// In the places of a WebSocket handshake: the query, header fields or the subprotocols, never cookies.
        case handshake
        /// The same, and the query may have the agent socket's own parameter `resume_from`.
        case agentHandshake
    }

    /// The head with the fields that carry credentials.
    package let head: RequestHead
    /// The query of the request that is judged, without `?`; nil when there is none, or when it does not count.
    package let query: [UInt8]?
    /// Where the request may carry credentials.
    package let way: Way
    /// Which cookies are read.
    package let cookies: CookieMode
    /// The method of the request that is judged; nil for that of `head`.
    package let method: [UInt8]?
    /// When the head was complete, in ms since the epoch.
    package let receivedAt: Int64

    /// Creates a request for the gate to judge.
    package init(
        head: RequestHead, query: [UInt8]?, way: Way, cookies: CookieMode, method: [UInt8]? = nil, receivedAt: Int64
    ) {
        self.head = head
        self.query = query
        self.way = way
        self.cookies = cookies
        self.method = method
        self.receivedAt = receivedAt
    }

    /// Whether the request asks for a socket, so that the rules for sockets apply.
    package var opensSocket: Bool { way != .fields }
}
