import Foundation
import Testing

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
}
