import BasicsForTests
import Experience
import Foundation
import Logging
import Testing
import Tracing

/// Spans of recorded traces, as a collector gets them.
@Suite(.blocking) struct TracingTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    private static func start(
        _ collector: RecordingUpstream, _ upstream: RecordingUpstream, ratio: String = "0"
    ) async throws -> GatewayInProcess {
        try await GatewayInProcess.start(
            """
            tracing: {otlp: '\(collector.url)', ratio: \(ratio)}
            routes:
              - {path: /o, upstream: '\(upstream.url)', require: none}
            """)
    }

    private static func spans(_ collector: RecordingUpstream) -> [[String: Any]] {
        collector.requests.flatMap { request -> [[String: Any]] in
            guard request.target == "/v1/traces",
                let object = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any],
                let resources = object["resourceSpans"] as? [[String: Any]]
            else { return [] }
            return resources.flatMap { $0["scopeSpans"] as? [[String: Any]] ?? [] }
                .flatMap { $0["spans"] as? [[String: Any]] ?? [] }
        }
    }

    @Test("A sampled trace of a client is recorded, and the upstream is told of the gateway's span")
    func sampled() async throws {
        let (collector, upstream) = (try RecordingUpstream(), try RecordingUpstream())
        let gateway = try await Self.start(collector, upstream)
        defer { gateway.stop() }
        let parent = "00-\(Self.trace)-b7ad6b7169203331-01"
        _ = try gateway.request("GET", "/o/x?ticket=tkt_0123456789", headers: [("traceparent", parent)])
        let unsampled = "00-\(Self.trace)-b7ad6b7169203331-00"
        _ = try gateway.request("GET", "/o/unsampled", headers: [("traceparent", unsampled)])
        _ = try gateway.request("GET", "/o/new")
        #expect(try await eventually { !Self.spans(collector).isEmpty })
        let spans = Self.spans(collector)
        #expect(spans.count == 1)
        let span = try #require(spans.first)
        #expect(span["traceId"] as? String == Self.trace && span["parentSpanId"] as? String == "b7ad6b7169203331")
        #expect(span["name"] as? String == "GET /o")
        let id = try #require(span["spanId"] as? String)
        let told = upstream.requests.compactMap { $0["traceparent"] }
        #expect(told.first == "00-\(Self.trace)-\(id)-01" && told.dropFirst().first == unsampled)
        #expect(told.last?.hasSuffix("-00") == true)
        let text = String(decoding: collector.requests.first?.body ?? [], as: UTF8.self)
        #expect(text.contains("/o/x") && !text.contains("tkt_0123456789"))
    }

    @Test("With a ratio of 1 every new trace is recorded; a collector that is away holds nothing up")
    func ratio() async throws {
        let (collector, upstream) = (try RecordingUpstream(), try RecordingUpstream())
        let gateway = try await Self.start(collector, upstream, ratio: "1")
        defer { gateway.stop() }
        for _ in 0..<5 { #expect(try gateway.request("GET", "/o").status == 200) }
        #expect(try await eventually { Self.spans(collector).count == 5 })
        #expect(upstream.requests.allSatisfy { $0["traceparent"]?.hasSuffix("-01") == true })
        let away = try SocketAddressing.unusedPort()
        let other = try await GatewayInProcess.start(
            "tracing: {otlp: 'http://127.0.0.1:\(away)', ratio: 1}\nroutes: []\n")
        for _ in 0..<20 { #expect(try other.request("GET", "/x").status == 404) }
        #expect(other.stop() == 0)
    }

    /// Has the gateway answer so many requests, faster than their spans are sent.
    private static func answer(_ count: Int, _ gateway: GatewayInProcess) throws {
        let socket = try RawSocket(port: gateway.port)
        for _ in 0..<(count / 50) {
            try socket.send(String(repeating: "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", count: 50))
            for _ in 0..<50 { #expect(try socket.response().status == 404) }
        }
    }

    @Test("A stop waits for the spans that are left, however many batches they are")
    func stop() async throws {
        let collector = try RecordingUpstream()
        let gateway = try await GatewayInProcess.start("tracing: {otlp: '\(collector.url)', ratio: 1}\n")
        try Self.answer(1_500, gateway)
        #expect(gateway.stop() == 0)
        #expect(Self.spans(collector).count == 1_500)
        #expect(collector.requests.count > 2)
    }

    @Test("The tracer sends the spans of any code, those that are left when it ends included")
    func ownSpans() async throws {
        let collector = try RecordingUpstream()
        let tracer = OTLPTracer(
            collector: collector.url, service: "shop", version: "1", logger: Logger(label: "test"))
        tracer.startSpan("first", context: .topLevel).end()
        let running = Task { await tracer.run() }
        #expect(try await eventually { Self.spans(collector).count == 1 })
        Self.nest(tracer)
        running.cancel()
        await running.value
        let spans = Self.spans(collector)
        #expect(spans.compactMap { $0["name"] as? String } == ["first", "inner", "outer"])
        let (inner, outer) = (try #require(spans.dropFirst().first), try #require(spans.last))
        #expect(inner["parentSpanId"] as? String == outer["spanId"] as? String && outer["parentSpanId"] == nil)
        #expect(inner["traceId"] as? String == outer["traceId"] as? String)
        #expect((inner["traceId"] as? String)?.count == 32 && (inner["spanId"] as? String)?.count == 16)
        let text = String(decoding: collector.requests.first?.body ?? [], as: UTF8.self)
        #expect(text.contains(#"{"key":"service.name","value":{"stringValue":"shop"}}"#))
    }

    private static func nest(_ tracer: OTLPTracer) {
        tracer.withSpan("outer") { _ in
            tracer.withSpan("inner") { _ in }
        }
    }

    @Test("A stop drops and counts the spans that a collector does not take")
    func stopWithoutCollector() async throws {
        // It is silent until the stop, so each batch takes seconds to be given up, however slow the requests are.
        let stops = DispatchSemaphore(value: 0)
        let collector = try RecordingUpstream { _, stream in
            if stops.wait(timeout: .now() + 60) == .success { stops.signal() }
            try stream.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
            return .keep
        }
        let gateway = try await GatewayInProcess.start("tracing: {otlp: '\(collector.url)', ratio: 1}\n")
        // More than the batches of the seconds that it may take take away.
        try Self.answer(6_000, gateway)
        stops.signal()
        #expect(gateway.stop() == 0)
        #expect(gateway.log.contains("spans were left at the stop"))
    }
}
