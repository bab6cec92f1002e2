import Answers
import HTTPWire

/// What of a request the exchanges and sockets need to know besides its head.
package final class EdgeRequest {
    package let head: RequestHead
    /// The one canonical path: matched, authorised and forwarded.
    package let path: [UInt8]
    /// The query as the client sent it, without `?`; nil when there is none.
    package let query: [UInt8]?
    package let requestID: RequestID
    /// When its head was complete, in ms since the epoch.
    package let receivedAt: Int64
    /// The client's address after trusted proxies, as text without port.
    package let clientAddress: String
    /// Whether the client came over TLS (here or at a trusted proxy).
    package let isSecure: Bool
    package let cookieMode: CookieMode
    /// `Host` as it was sent, for `X-Forwarded-Host`.
    package let host: String
    /// The host the client asked for, as far as a trusted proxy says so; else `host`.
    package let forwardedHost: String
    /// What `X-Forwarded-For` says to upstreams.
    package let forwardedFor: String
    /// Where a new trace comes from, for a request that brought none.
    package let traces: TraceSource

    package var id: String { requestID.text }

    package init(
        head: RequestHead, path: [UInt8], query: [UInt8]?, requestID: RequestID, clientAddress: String, isSecure: Bool,
        cookieMode: CookieMode, host: String, forwardedHost: String, forwardedFor: String, traces: TraceSource,
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
        self.traces = traces
    }
}
