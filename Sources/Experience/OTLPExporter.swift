import AsyncHTTPClient
import Edge
import EdgeCore
import Encodings
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Sends spans to a collector as OTLP over HTTP, in its JSON form.
///
/// A collector that is away or slow costs nothing but itself: at most ``longestQueue`` spans wait, further ones are
/// dropped and counted, and a batch that is not taken is not sent again. At a stop it is waited for, but not for long.
final class OTLPExporter: SpanSink {
    private static let longestQueue = 8_192
    private static let batch = 512
    /// How long a batch may take, and all that is left at a stop.
    private static let patience = TimeAmount.seconds(5)
    /// The same for what is left at a stop, where the collector did not take the last batch.
    private static let shortPatience = TimeAmount.seconds(1)

    private let url: String
    private let http: HTTPClient
    private let version: String
    private let logger: Logger
    private let dropped: @Sendable (Int) -> Void
    /// Nil once nothing is sent any more.
    private let waiting = Mutex<[RequestSpan]?>([])
    private let hasFailed = Atomic<Bool>(false)

    /// - Parameters:
    ///   - origin: `tracing.otlp`, such as `http://127.0.0.1:4318`.
    ///   - dropped: told how many spans were dropped.
    ///   - version: the resource's `service.version`.
    init(
        _ origin: String, version: String, logger: Logger, dropped: @escaping @Sendable (Int) -> Void
    ) {
        url = origin + "/v1/traces"
        self.version = version
        http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            // The answer's body is not part of a request's own time limit.
            configuration: HTTPClient.Configuration(
                redirectConfiguration: .disallow, timeout: HTTPClient.Configuration.Timeout(read: Self.patience)))
        self.logger = logger
        self.dropped = dropped
    }

    /// Called on the event loops; costs a lock. What finds no room is dropped and counted.
    func take(_ spans: [RequestSpan]) {
        let lost = waiting.withLock { waiting -> Int in
            guard let count = waiting?.count else { return spans.count }
            let room = max(0, Self.longestQueue - count)
            waiting?.append(contentsOf: spans.prefix(room))
            return max(0, spans.count - room)
        }
        if lost > 0 { dropped(lost) }
    }

    /// Sends what waits, every second, until the task is cancelled; then what is left. To be called once.
    func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            var outcome = Outcome.mayBeMore
            while !Task.isCancelled, outcome == .mayBeMore {
                // In a task of its own: a batch that is under way is not lost with this one.
                outcome = await Task { await sendBatch(until: .now() + Self.patience) }.value
            }
        }
        await Task { await finish() }.value
    }

    /// Sends what is left, as long as the collector takes it. The rest is dropped and counted, as is what comes later.
    private func finish() async {
        let hasFailed = self.hasFailed.load(ordering: .relaxed)
        let end = NIODeadline.now() + (hasFailed ? Self.shortPatience : Self.patience)
        while await sendBatch(until: end) == .mayBeMore {}
        let left = waiting.withLock { waiting -> Int in
            defer { waiting = nil }
            return waiting?.count ?? 0
        }
        if left > 0 {
            dropped(left)
            logger.warning("spans were left at the stop", metadata: ["dropped": "\(left)"])
        }
        await shutdown()
    }

    /// Ends an exporter that does not run. What waits is forgotten.
    func shutdown() async { try? await http.shutdown() }

    /// What became of a batch.
    private enum Outcome { case mayBeMore, wasLast, failed }

    private func sendBatch(until end: NIODeadline) async -> Outcome {
        let spans = waiting.withLock { waiting -> [RequestSpan] in
            let batch = Array(waiting?.prefix(Self.batch) ?? [])
            waiting?.removeFirst(batch.count)
            return batch
        }
        guard !spans.isEmpty else { return .wasLast }
        do {
            try await send(spans, until: end)
            if hasFailed.exchange(false, ordering: .relaxed) { logger.notice("the trace collector takes spans again") }
        } catch {
            dropped(spans.count)
            if !hasFailed.exchange(true, ordering: .relaxed) {
                logger.warning("the trace collector takes no spans", metadata: ["error": "\(type(of: error))"])
            }
            return .failed
        }
        return spans.count == Self.batch ? .mayBeMore : .wasLast
    }

    private func send(_ spans: [RequestSpan], until end: NIODeadline) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: Self.document(of: spans, version: version)))
        let response = try await http.execute(request, deadline: end)
        guard (200..<300).contains(response.status.code) else {
            throw Refused()
        }
        _ = try await response.body.collect(upTo: 64 * 1024)
    }

    /// The collector answered with a status that is no success.
    private struct Refused: Error {}

    /// `ExportTraceServiceRequest` in the JSON form of OTLP 1.
    ///
    /// - Parameter version: the resource's `service.version`.
    static func document(of spans: [RequestSpan], version: String) -> [UInt8] {
        let resource: JSONObject = [
            "attributes": .array([attribute("service.name", "gatehouse"), attribute("service.version", version)])
        ]
        let scope: JSONObject = [
            "scope": .object(["name": "gatehouse"]), "spans": .array(spans.map { .object(span($0)) }),
        ]
        return JSONValue.object([
            "resourceSpans": .array([
                .object(["resource": .object(resource), "scopeSpans": .array([.object(scope)])])
            ])
        ]).serializedBytes()
    }

    private static func attribute(_ key: String, _ value: String) -> JSONValue {
        .object(["key": .string(key), "value": .object(["stringValue": .string(value)])])
    }

    private static func attribute(_ key: String, _ value: Int64) -> JSONValue {
        // OTLP writes 64-bit numbers as text.
        .object(["key": .string(key), "value": .object(["intValue": .string(String(value))])])
    }

    private static func span(_ span: RequestSpan) -> JSONObject {
        var id = ByteBuffer()
        span.trace.writeID(to: &id)
        let start = max(0, span.startedAt) * 1_000_000
        var members: JSONObject = [
            "traceId": .string(String(buffer: id)), "spanId": .string(hex(span.trace.span)),
            "name": .string(span.method.isEmpty ? span.route : "\(span.method) \(span.route)"),
            // SPAN_KIND_SERVER.
            "kind": .integer(2),
            "startTimeUnixNano": .string(String(start)),
            "endTimeUnixNano": .string(String(start + max(0, span.duration))),
            "attributes": .array(attributes(of: span)),
        ]
        if let parent = span.trace.parent { members["parentSpanId"] = .string(hex(parent)) }
        // STATUS_CODE_ERROR, for faults of the server only.
        if (span.status ?? 0) >= 500 { members["status"] = .object(["code": .integer(2)]) }
        return members
    }

    private static func attributes(of span: RequestSpan) -> [JSONValue] {
        var attributes = [
            attribute("http.route", span.route), attribute("gatehouse.request_id", span.requestID),
        ]
        if !span.method.isEmpty { attributes.append(attribute("http.request.method", span.method)) }
        if let path = span.path { attributes.append(attribute("url.path", path)) }
        if let status = span.status { attributes.append(attribute("http.response.status_code", Int64(status))) }
        if let code = span.code { attributes.append(attribute("gatehouse.refusal", code)) }
        if let client = span.client { attributes.append(attribute("client.address", client)) }
        if let upstream = span.upstream { attributes.append(attribute("gatehouse.upstream", upstream)) }
        if let time = span.upstreamTime { attributes.append(attribute("gatehouse.upstream_ns", time)) }
        return attributes
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
