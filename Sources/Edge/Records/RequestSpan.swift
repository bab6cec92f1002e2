import EdgeCore
import HTTPWire
import NIOCore

/// One span of a recorded trace: the time in which the gateway dealt with a request, or an upstream answered it.
package struct RequestSpan: Sendable {
    /// The trace, whose `span` is this span's id.
    package let trace: RequestTrace
    /// The request's method; empty where it could not be read.
    package let method: String
    /// The configured path, `api`, `page` or `none`.
    package let route: String
    /// The path of the request without query, credentials shortened; nil where it could not be read.
    package let path: String?
    /// The answer's status; nil where none was sent.
    package let status: Int?
    /// The code of the refusal.
    package let code: String?
    /// The id that the answer has (`X-Request-Id`).
    package let requestID: String
    /// The client's address.
    package let client: String?
    /// `HOST:PORT` of the upstream.
    package let upstream: String?
    /// How long the upstream took until its answer's head, in nanoseconds.
    package let upstreamTime: Int64?
    /// When it began, in ms since the epoch.
    package let startedAt: Int64
    /// How long it took, in nanoseconds.
    package let duration: Int64

    init(_ record: RequestRecord, _ trace: RequestTrace, _ requestID: RequestID, now: NIODeadline) {
        self.trace = trace
        method = record.head.map { $0.string($0.method) } ?? record.handshake?.method ?? ""
        route = record.route.label
        path = record.head.flatMap { RedactedTarget.path(of: $0, canonical: record.path) } ?? record.handshake?.path
        status = record.status
        code = record.code
        self.requestID = requestID.text
        client = record.client
        upstream = record.upstream
        upstreamTime = record.upstreamTime?.nanoseconds
        startedAt = record.receivedAt
        duration = (now - record.startedAt).nanoseconds
    }
}
