import Edge
import Encodings
import Spans
import Tracing

/// Writes spans as an `ExportTraceServiceRequest` in the JSON form of OTLP 1.
enum OTLPDocument {
    /// - Parameters:
    ///   - service: the resource's `service.name`.
    ///   - version: the resource's `service.version`.
    static func bytes(of spans: [FinishedSpan], service: String, version: String) -> [UInt8] {
        let resource: JSONObject = [
            "attributes": .array([text("service.name", service), text("service.version", version)])
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

    private static func span(_ span: FinishedSpan) -> JSONObject {
        var members: JSONObject = [
            "traceId": .string(span.identity.traceID), "spanId": .string(span.identity.spanID),
            "name": .string(span.name), "kind": .integer(number(of: span.kind)),
            "startTimeUnixNano": .string(String(span.start)), "endTimeUnixNano": .string(String(span.end)),
            "attributes": list(span.attributes),
        ]
        if let parent = span.identity.parentSpanID { members["parentSpanId"] = .string(parent) }
        if let status = span.status { members["status"] = .object(object(status)) }
        if !span.events.isEmpty { members["events"] = .array(span.events.map(event)) }
        let links = span.links.compactMap(link)
        if !links.isEmpty { members["links"] = .array(links) }
        for (name, count) in [
            ("droppedAttributesCount", span.dropped.attributes), ("droppedEventsCount", span.dropped.events),
            ("droppedLinksCount", span.dropped.links),
        ] where count > 0 {
            members[name] = .integer(Int64(count))
        }
        return members
    }

    private static func number(of kind: SpanKind) -> Int64 {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    private static func object(_ status: SpanStatus) -> JSONObject {
        var members: JSONObject = ["code": .integer(status.code == .ok ? 1 : 2)]
        if let message = status.message { members["message"] = .string(message) }
        return members
    }

    private static func event(_ event: SpanEvent) -> JSONValue {
        .object([
            "timeUnixNano": .string(String(event.nanosecondsSinceEpoch)), "name": .string(event.name),
            "attributes": list(event.attributes),
        ])
    }

    /// Nil where the other span was made by a tracer of another kind.
    private static func link(_ link: SpanLink) -> JSONValue? {
        guard let other = link.context.traceContext else { return nil }
        return .object([
            "traceId": .string(other.traceID), "spanId": .string(other.spanID), "attributes": list(link.attributes),
        ])
    }

    // MARK: Attributes

    private static let places = Dictionary(
        uniqueKeysWithValues: RequestAttribute.allCases.enumerated().map { ($1.rawValue, $0) })

    /// Those of requests in their own order, then others by name.
    private static func list(_ attributes: SpanAttributes) -> JSONValue {
        let ordered = attributes.named.sorted { (place($0.name), $0.name) < (place($1.name), $1.name) }
        return .array(
            ordered.compactMap { name, attribute in
                value(attribute).map { JSONValue.object(["key": .string(name), "value": $0]) }
            })
    }

    private static func place(_ name: String) -> Int { places[name] ?? .max }

    private static func text(_ name: String, _ value: String) -> JSONValue {
        .object(["key": .string(name), "value": .object(["stringValue": .string(value)])])
    }

    /// Nil for what is no value.
    private static func value(_ attribute: SpanAttribute) -> JSONValue? {
        switch attribute {
        case .string(let text): .object(["stringValue": .string(text)])
        // OTLP writes 64-bit numbers as text.
        case .int64(let number): .object(["intValue": .string(String(number))])
        case .int32(let number): .object(["intValue": .string(String(number))])
        case .double(let number): .object(["doubleValue": double(number)])
        case .bool(let flag): .object(["boolValue": .bool(flag)])
        case .stringConvertible(let value): .object(["stringValue": .string(value.description)])
        case .stringArray(let values): array(values.map { .string($0) })
        case .int64Array(let values): array(values.map { .int64($0) })
        case .int32Array(let values): array(values.map { .int32($0) })
        case .doubleArray(let values): array(values.map { .double($0) })
        case .boolArray(let values): array(values.map { .bool($0) })
        case .stringConvertibleArray(let values): array(values.map { .string($0.description) })
        default: nil
        }
    }

    private static func array(_ values: [SpanAttribute]) -> JSONValue {
        .object(["arrayValue": .object(["values": .array(values.compactMap(value))])])
    }

    /// Numbers that JSON does not have are texts in the JSON form of protobuf.
    private static func double(_ number: Double) -> JSONValue {
        if let exact = JSONNumber(number) { return .number(exact) }
        return .string(number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity")
    }
}
