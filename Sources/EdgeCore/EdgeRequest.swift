import Answers
import HTTPWire

/// A request as the exchanges and sockets need it: its head, and what the edge has found out about it.
package final class EdgeRequest {
    /// The head as the client sent it.
    package let head: RequestHead
    /// The one canonical path: matched, authorised and forwarded.
    package let path: [UInt8]
    /// The query as the client sent it, without `?`; nil when there is none.
    package let query: [UInt8]?
    /// The id that log, audit and upstream know the request by.
    package let requestID: RequestID
    /// When its head was complete, in ms since the epoch.
    package let receivedAt: Int64
    /// The client's address after trusted proxies, as text without port.
    package let clientAddress: String
    /// Whether the client came over TLS (here or at a trusted proxy).
    package let isSecure: Bool
    /// Which names the gateway's cookies have for this request.
    package let cookieMode: CookieMode
    /// `Host` as it was sent, for `X-Forwarded-Host`.
    package let host: String
    /// The host the client asked for, where a trusted proxy says so; else `host`.
    package let forwardedHost: String
    /// The value of `X-Forwarded-For` for upstreams.
    package let forwardedFor: String
    /// The trace that the request belongs to.
    package let trace: RequestTrace

    /// ``requestID`` as text.
    package var id: String { requestID.text }

    /// Creates the request from its parts.
    package init(
        head: RequestHead, path: [UInt8], query: [UInt8]?, requestID: RequestID, clientAddress: String, isSecure: Bool,
        cookieMode: CookieMode, host: String, forwardedHost: String, forwardedFor: String, trace: RequestTrace,
        receivedAt: Int64
    ) {
        self.head = head
        self.path = path
        self.query = query
        self.requestID = requestID
        self.receivedAt = receivedAt
        self.clientAddress = clientAddress
        self.isSecure = isSecure
        self.cookieMode = cookieMode
        self.host = host
        self.forwardedHost = forwardedHost
        self.forwardedFor = forwardedFor
        self.trace = trace
    }
}
