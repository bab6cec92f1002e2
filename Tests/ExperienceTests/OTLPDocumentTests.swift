import Spans
import Testing
import Tracing

@testable import Experience

@Suite("Spans as OTLP writes them") struct OTLPDocumentTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    private static func span(
        parent: UInt64? = nil, kind: SpanKind = .internal, attributes: SpanAttributes = [:], events: [SpanEvent] = [],
        links: [SpanLink] = [], status: SpanStatus? = nil, dropped: FinishedSpan.Dropped = FinishedSpan.Dropped()
    ) -> FinishedSpan {
        FinishedSpan(
            identity: SpanContext(
                traceHigh: 0x0AF7_6519_16CD_43DD, traceLow: 0x8448_EB21_1C80_319C, span: 0xB7, parent: parent,
                isSampled: true),
            name: "GET /o", kind: kind, start: 1_785_585_600_001_000_000, end: 1_785_585_600_003_345_678,
            attributes: attributes, events: events, links: links, status: status, dropped: dropped)
    }

    private static func text(_ span: FinishedSpan) -> String {
        String(decoding: OTLPDocument.bytes(of: [span], service: "gatehouse", version: "1.2.3"), as: UTF8.self)
    }

    private static func written(_ name: String, _ value: String) -> String {
        #"{"key":"\#(name)","value":{"stringValue":"\#(value)"}}"#
    }

    @Test("A request's span is written so, to the byte")
    func request() {
        let attributes: SpanAttributes = [
            "http.route": "/o", "gatehouse.request_id": "req_1", "http.request.method": "GET", "url.path": "/o/x",
            "http.response.status_code": 503, "gatehouse.refusal": "store_unavailable", "client.address": "192.0.2.1",
            "gatehouse.upstream": "127.0.0.1:9", "gatehouse.upstream_ns": 7,
        ]
        let expected: [String] = [
            #"{"resourceSpans":[{"resource":{"attributes":["#,
            Self.written("service.name", "gatehouse"), ",", Self.written("service.version", "1.2.3"),
            #"]},"scopeSpans":[{"scope":{"name":"gatehouse"},"spans":[{"traceId":"\#(Self.trace)","#,
            #""spanId":"00000000000000b7","name":"GET /o","kind":2,"#,
            #""startTimeUnixNano":"1785585600001000000","endTimeUnixNano":"1785585600003345678","attributes":["#,
            Self.written("http.route", "/o"), ",", Self.written("gatehouse.request_id", "req_1"), ",",
            Self.written("http.request.method", "GET"), ",", Self.written("url.path", "/o/x"), ",",
            #"{"key":"http.response.status_code","value":{"intValue":"503"}},"#,
            Self.written("gatehouse.refusal", "store_unavailable"), ",",
            Self.written("client.address", "192.0.2.1"), ",", Self.written("gatehouse.upstream", "127.0.0.1:9"), ",",
            #"{"key":"gatehouse.upstream_ns","value":{"intValue":"7"}}"#,
            #"],"parentSpanId":"00000000000000a1","status":{"code":2}}]}]}]}"#,
        ]
        let span = Self.span(
            parent: 0xA1, kind: .server, attributes: attributes, status: SpanStatus(code: .error))
        #expect(Self.text(span) == expected.joined())
    }

    @Test(
        "Values have their types",
        arguments: [
            (.string("a"), #"{"stringValue":"a"}"#), (.int32(-1), #"{"intValue":"-1"}"#),
            (.int64(.max), #"{"intValue":"9223372036854775807"}"#), (.double(1.5), #"{"doubleValue":1.5}"#),
            (.double(.infinity), #"{"doubleValue":"Infinity"}"#), (.double(.nan), #"{"doubleValue":"NaN"}"#),
            (.bool(true), #"{"boolValue":true}"#), (.stringConvertible(7), #"{"stringValue":"7"}"#),
            (.stringArray(["a", "b"]), #"{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}"#),
            (.int64Array([1]), #"{"arrayValue":{"values":[{"intValue":"1"}]}}"#),
            (.boolArray([]), #"{"arrayValue":{"values":[]}}"#),
        ] as [(SpanAttribute, String)])
    func values(value: SpanAttribute, json: String) {
        let text = Self.text(Self.span(attributes: SpanAttributes(["key": value])))
        #expect(text.contains(#""attributes":[{"key":"key","value":\#(json)}]"#))
    }

    @Test("Attributes that are not a request's are in the order of their names, after a request's")
    func order() {
        let text = Self.text(Self.span(attributes: ["b": 2, "http.route": "/o", "a": 1, "c": 3]))
        let one = #"{"key":"a","value":{"intValue":"1"}},{"key":"b","value":{"intValue":"2"}}"#
        #expect(text.contains(#"[\#(Self.written("http.route", "/o")),\#(one),{"key":"c""#))
    }

    @Test(
        "Kinds have OTLP's numbers",
        arguments: zip([SpanKind.internal, .server, .client, .producer, .consumer], 1...5))
    func kinds(kind: SpanKind, number: Int) {
        #expect(Self.text(Self.span(kind: kind)).contains(#""kind":\#(number),"#))
    }

    @Test("Events, links, the status's message and the counts of what was left out are written where there are any")
    func more() {
        var context = ServiceContext.topLevel
        context.traceContext = SpanContext(traceHigh: 0, traceLow: 1, span: 2, parent: nil, isSampled: true)
        let event = SpanEvent(
            name: "found", at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 9), attributes: ["a": true])
        let text = Self.text(
            Self.span(
                events: [event],
                links: [
                    SpanLink(context: context, attributes: [:]), SpanLink(context: .topLevel, attributes: [:]),
                ],
                status: SpanStatus(code: .ok, message: "fine"), dropped: FinishedSpan.Dropped(attributes: 1, links: 3)))
        let flag = #"{"key":"a","value":{"boolValue":true}}"#
        #expect(text.contains(#""status":{"code":1,"message":"fine"}"#))
        #expect(text.contains(#""events":[{"timeUnixNano":"9","name":"found","attributes":[\#(flag)]}]"#))
        let link = #"{"traceId":"00000000000000000000000000000001","spanId":"0000000000000002","attributes":[]}"#
        #expect(text.contains(#""links":[\#(link)]"#))
        #expect(text.contains(#""droppedAttributesCount":1,"droppedLinksCount":3}"#))
        #expect(!Self.text(Self.span()).contains("dropped") && !Self.text(Self.span()).contains("events"))
    }
}
