import EdgeCore
import HTTPWire
import NIOCore

/// One span of a recorded trace: the time in which the gateway dealt with a request, or an upstream answered it.
struct RequestSpan: Sendable {
    /// The trace, whose `span` is this span's id.
    let trace: RequestTrace
    /// The request's method; empty where it could not be read.
    let method: String
    /// The configured path, `api`, `page` or `none`.
    let route: String
    /// The path of the request as the audit log shows it; nil where it could not be read.
    let path: String?
    /// The answer's status; nil where none was sent.
    let status: Int?
    /// The code of the refusal.
    let code: String?
    /// The id that the answer has (`X-Request-Id`).
    let requestID: String
    /// The client's address.
    let client: String?
    /// `HOST:PORT` of the upstream.
    let upstream: String?
    /// How long the upstream took until its answer's head, in nanoseconds.
    let upstreamTime: Int64?
    /// When it began, in ms since the epoch.
    let startedAt: Int64
    /// How long it took, in nanoseconds.
    let duration: Int64
}

extension RequestSpan {
    init(_ record: RequestRecord, _ trace: RequestTrace, _ requestID: RequestID, now: NIODeadline) {
        self.init(
            trace: trace, method: record.head.map { $0.string($0.method) } ?? record.handshake?.method ?? "",
            route: record.route.label,
            path: record.head.flatMap { RedactedTarget.path(of: $0, canonical: record.path) }
                ?? record.handshake?.path,
            status: record.status, code: record.code, requestID: requestID.text, client: record.client,
            upstream: record.upstream, upstreamTime: record.upstreamTime?.nanoseconds, startedAt: record.receivedAt,
            duration: (now - record.startedAt).nanoseconds)
    }
}
