import Answers
import HTTPWire

/// A request as the gate judges it: the client's own, or the one that a proxy in front asks about.
package struct GateRequest {
    /// In which way the request may carry credentials.
    package enum Way: Sendable, Equatable {
        /// In header fields and cookies.
        case fields
        /// As the handshake of a WebSocket may: in the query, in header fields or among the subprotocols, never in
        /// cookies.
        case handshake
        /// The same, with the agent socket's own parameter `resume_from`.
        case agentHandshake
    }

    /// Holds the fields that carry credentials.
    package let head: RequestHead
    /// The query of the request that is judged, without `?`; nil when there is none, or when it does not count.
    package let query: [UInt8]?
    package let way: Way
    /// Which cookies are read.
    package let cookies: CookieMode
    /// The method of the request that is judged; nil for that of `head`.
    package let method: [UInt8]?
    /// When the head was complete, in ms since the epoch.
    package let receivedAt: Int64

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

    /// Whether a socket is asked for: the rules of the socket edge hold.
    var opensSocket: Bool { way != .fields }
}
