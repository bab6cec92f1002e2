import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Sends spans to a collector as OTLP over HTTP, in its JSON form.
///
/// A collector that is away or slow costs nothing but itself: at most ``SpanQueue/longest`` spans wait, further ones
/// are dropped and counted, and a batch that is not taken is not sent again. At a stop it is waited for, but not for
/// long.
final class OTLPExporter: Sendable {
    private static let batch = 512
    /// How long a batch may take, and all that is left at a stop.
    private static let patience = TimeAmount.seconds(5)
    /// The same for what is left at a stop, where the collector did not take the last batch.
    private static let shortPatience = TimeAmount.seconds(1)

    /// The spans that wait to be sent.
    let queue: SpanQueue
    private let url: String
    private let service: String
    private let version: String
    private let logger: Logger
    private let dropped: @Sendable (Int) -> Void
    private let hasFailed = Atomic<Bool>(false)

    /// - Parameters:
    ///   - origin: `tracing.otlp`, such as `http://127.0.0.1:4318`.
    ///   - service: the resource's `service.name`.
    ///   - version: the resource's `service.version`.
    ///   - dropped: told how many spans were dropped.
    init(
        _ origin: String, service: String, version: String, logger: Logger,
        dropped: @escaping @Sendable (Int) -> Void
    ) {
        url = origin + "/v1/traces"
        self.service = service
        self.version = version
        self.logger = logger
        self.dropped = dropped
        queue = SpanQueue(dropped: dropped)
    }

    /// Sends what waits, every second and when the queue is woken, until the task is cancelled; then what is left. To
    /// be called once.
    func run() async {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration)
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { [queue] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(1))
                    queue.wake()
                }
            }
            for await _ in queue.wakes { await sendWaiting(http) }
            tasks.cancelAll()
        }
        await Task { await finish(http) }.value
        try? await http.shutdown()
    }

    private static var configuration: HTTPClient.Configuration {
        // The answer's body is not part of a request's own time limit.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: HTTPClient.Configuration.Timeout(read: patience))
        // Where the program's tracer is one that sends to this collector, each batch would make a span of its own.
        configuration.tracing.tracer = nil
        return configuration
    }

    private func sendWaiting(_ http: HTTPClient) async {
        var outcome = Outcome.mayBeMore
        while !Task.isCancelled, outcome == .mayBeMore {
            // In a task of its own: a batch that is under way is not lost with this one.
            outcome = await Task { await sendBatch(http, until: .now() + Self.patience) }.value
        }
    }

    /// Sends what is left, as long as the collector takes it. The rest is dropped and counted, as is what comes later.
    private func finish(_ http: HTTPClient) async {
        let hasFailed = hasFailed.load(ordering: .relaxed)
        let end = NIODeadline.now() + (hasFailed ? Self.shortPatience : Self.patience)
        while await sendBatch(http, until: end) == .mayBeMore {}
        let left = queue.close()
        if left > 0 { logger.warning("spans were left at the stop", metadata: ["dropped": "\(left)"]) }
    }

    /// What became of a batch.
    private enum Outcome { case mayBeMore, wasLast, failed }

    private func sendBatch(_ http: HTTPClient, until end: NIODeadline) async -> Outcome {
        let spans = queue.take(atMost: Self.batch)
        guard !spans.isEmpty else { return .wasLast }
        do {
            try await send(spans, http, until: end)
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

    private func send(_ spans: [FinishedSpan], _ http: HTTPClient, until end: NIODeadline) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: OTLPDocument.bytes(of: spans, service: service, version: version)))
        let response = try await http.execute(request, deadline: end)
        guard (200..<300).contains(response.status.code) else {
            throw Refused()
        }
        _ = try await response.body.collect(upTo: 64 * 1024)
    }

    /// The collector answered with a status that is no success.
    private struct Refused: Error {}
}
