import AsyncHTTPClient
import EdgeConfiguration
import Experience
import GatewayForTests
import InMemoryTracing
import NIOCore
import NIOHTTP1
import Testing
import Tracing

/// A gateway whose spans go to a tracer of the program that it is part of.
@Suite("A tracer of the program's own", .timeLimit(.minutes(1))) struct TracerTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    /// Asks for the key set of a gateway through the route `/o` of another. Both have ended when this returns, and the
    /// spans were handed over.
    ///
    /// - Returns: milliseconds since the epoch, before and after the request.
    private static func ask(
        _ outer: InMemoryTracer, _ inner: InMemoryTracer, traceparent: String?, ratio: Double = 0
    ) async throws -> ClosedRange<Int64> {
        func trace(_ gateway: inout Gateway) { gateway.tracer = inner }
        return try await withGateway(adjustGateway: trace) { upstream in
            try await askThrough(upstream, outer, traceparent: traceparent, ratio: ratio)
        }
    }

    private static func askThrough(
        _ upstream: GatewayForTests, _ tracer: InMemoryTracer, traceparent: String?, ratio: Double
    ) async throws -> ClosedRange<Int64> {
        func adjust(_ configuration: inout GatewayConfiguration) {
            var route = RouteConfiguration(path: "/o")
            route.upstreams = [upstream.origin]
            route.require = .none
            route.stripPrefix = true
            configuration.routes = [route]
            configuration.tracing.ratio = ratio
        }
        func trace(_ gateway: inout Gateway) { gateway.tracer = tracer }
        return try await withGateway(adjust: adjust, adjustGateway: trace) { gateway in
            var request = HTTPClientRequest(url: gateway.origin + "/o/.well-known/jwks.json")
            if let traceparent { request.headers.add(name: "traceparent", value: traceparent) }
            let start = gateway.clock.now
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
            _ = try await response.body.collect(upTo: 1 << 20)
            #expect(response.status.code == 200)
            return start...gateway.clock.now
        }
    }

    @Test("A proxied request of a sampled trace gives one span, with its name, kind, parent, times and attributes")
    func proxied() async throws {
        let (outer, inner) = (InMemoryTracer(), InMemoryTracer())
        let times = try await Self.ask(outer, inner, traceparent: "00-\(Self.trace)-b7ad6b7169203331-01")
        #expect(outer.finishedSpans.count == 1 && outer.activeSpans.isEmpty)
        let span = try #require(outer.finishedSpans.first)
        #expect(span.operationName == "GET /o" && span.kind == .server && span.status == nil)
        let identity = try #require(span.context.assignedTraceContext)
        #expect(identity.traceID == Self.trace && identity.parentSpanID == "b7ad6b7169203331" && identity.isSampled)
        let start = span.startInstant.nanosecondsSinceEpoch
        #expect(times.contains(Int64(start / 1_000_000)) && span.endInstant.nanosecondsSinceEpoch > start)
        #expect(span.attributes.get("http.route") == .string("/o"))
        #expect(span.attributes.get("http.request.method") == .string("GET"))
        #expect(span.attributes.get("http.response.status_code") == .int64(200))
        #expect(span.attributes.get("url.path") == .string("/o/.well-known/jwks.json"))
        #expect(span.attributes.get("client.address") == .string("127.0.0.1"))
        #expect(span.attributes.get("gatehouse.upstream") != nil)

        // The other gateway was told of exactly this span.
        let next = try #require(inner.finishedSpans.first?.context.assignedTraceContext)
        #expect(inner.finishedSpans.count == 1)
        #expect(next.traceID == Self.trace && next.parentSpanID == identity.spanID && next.spanID != identity.spanID)
    }

    @Test(
        "What is not recorded reaches no tracer",
        arguments: [nil, "00-\(trace)-b7ad6b7169203331-00"] as [String?])
    func notRecorded(traceparent: String?) async throws {
        let (outer, inner) = (InMemoryTracer(), InMemoryTracer())
        _ = try await Self.ask(outer, inner, traceparent: traceparent)
        #expect(outer.finishedSpans.isEmpty && inner.finishedSpans.isEmpty)
        #expect(outer.activeSpans.isEmpty && outer.performedContextExtractions.isEmpty)
    }

    @Test("tracing.ratio counts without a collector, too")
    func ratio() async throws {
        let (outer, inner) = (InMemoryTracer(), InMemoryTracer())
        _ = try await Self.ask(outer, inner, traceparent: nil, ratio: 1)
        let identity = try #require(outer.finishedSpans.first?.context.assignedTraceContext)
        #expect(identity.parent == nil && identity.isSampled)
        #expect(inner.finishedSpans.first?.context.assignedTraceContext?.parent == identity.span)
    }
}
