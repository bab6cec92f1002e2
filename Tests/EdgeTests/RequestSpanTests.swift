import EdgeCore
import InMemoryTracing
import Spans
import Testing
import Tracing

@testable import Edge

@Suite("Spans of requests, as a tracer gets them") struct RequestSpanTests {
    private static func span(
        parent: UInt64? = nil, method: String = "GET", path: String? = "/o/x", status: Int? = 200, code: String? = nil,
        upstream: String? = nil, upstreamTime: Int64? = nil, startedAt: Int64 = 1_785_585_600_001,
        duration: Int64 = 2_345_678
    ) -> RequestSpan {
        RequestSpan(
            trace: RequestTrace(
                high: 0x0AF7_6519_16CD_43DD, low: 0x8448_EB21_1C80_319C, span: 0xB7, parent: parent, isSampled: true,
                isRecorded: true),
            method: method, route: "/o", path: path, status: status, code: code, requestID: "req_1",
            client: "192.0.2.1", upstream: upstream, upstreamTime: upstreamTime, startedAt: startedAt,
            duration: duration)
    }

    private static func reported(_ span: RequestSpan) throws -> FinishedInMemorySpan {
        let tracer = InMemoryTracer()
        span.report(to: tracer)
        #expect(tracer.finishedSpans.count == 1 && tracer.activeSpans.isEmpty)
        return try #require(tracer.finishedSpans.first)
    }

    @Test("It is a server's, with the times of the request and what is known of it")
    func complete() throws {
        let span = try Self.reported(
            Self.span(parent: 0xA1, code: "not_allowed", upstream: "127.0.0.1:9", upstreamTime: 7))
        #expect(span.operationName == "GET /o" && span.kind == .server && span.status == nil)
        #expect(span.startInstant.nanosecondsSinceEpoch == 1_785_585_600_001_000_000)
        #expect(span.endInstant.nanosecondsSinceEpoch == 1_785_585_600_003_345_678)
        let expected: SpanAttributes = [
            "http.route": "/o", "gatehouse.request_id": "req_1", "http.request.method": "GET", "url.path": "/o/x",
            "http.response.status_code": 200, "gatehouse.refusal": "not_allowed", "client.address": "192.0.2.1",
            "gatehouse.upstream": "127.0.0.1:9", "gatehouse.upstream_ns": 7,
        ]
        #expect(span.attributes == expected)
    }

    @Test("What is not known is left out")
    func unread() throws {
        let span = try Self.reported(Self.span(method: "", path: nil, status: nil))
        #expect(span.operationName == "/o")
        let expected: SpanAttributes = [
            "http.route": "/o", "gatehouse.request_id": "req_1", "client.address": "192.0.2.1",
        ]
        #expect(span.attributes == expected)
    }

    @Test("Only faults of the server are errors", arguments: [(200, false), (404, false), (499, false), (500, true)])
    func errors(status: Int, isError: Bool) throws {
        let span = try Self.reported(Self.span(status: status))
        #expect((span.status?.code == .error) == isError)
    }

    @Test("A clock that was set back gives no negative times")
    func clock() throws {
        let span = try Self.reported(Self.span(startedAt: -5, duration: -7))
        #expect(span.startInstant.nanosecondsSinceEpoch == 0 && span.endInstant.nanosecondsSinceEpoch == 0)
    }

    @Test("Its ids are those that were chosen when the request arrived", arguments: [nil, 0xA1] as [UInt64?])
    func identity(parent: UInt64?) throws {
        let identity = try Self.reported(Self.span(parent: parent)).context.assignedTraceContext
        #expect(identity?.traceID == "0af7651916cd43dd8448eb211c80319c" && identity?.spanID == "00000000000000b7")
        #expect(identity?.parent == parent && identity?.isSampled == true)
    }

    @Test("A tracer that knows no ids of others may read the caller's traceparent, where there is one")
    func extraction() {
        let tracer = InMemoryTracer()
        Self.span(parent: 0xA1).report(to: tracer)
        Self.span(parent: nil).report(to: tracer)
        let carriers = tracer.performedContextExtractions.compactMap { $0.carrier as? String }
        #expect(carriers == ["00-0af7651916cd43dd8448eb211c80319c-00000000000000a1-01"])
    }
}
