import EdgeCore
import Gate
import HTTPWire
import NIOCore

/// Writes the head of an upstream's answer as the client gets it.
package enum ResponseFilter {
    /// The status and the fields that are passed on. The client's connection adds framing and `Connection`.
    ///
    /// - Parameters:
    ///   - form: how the client's connection sends fields.
    ///   - ownsCORS: whether the gateway answers CORS questions on this route, so that the upstream's
    ///     `Access-Control-*` fields are left out.
    ///   - keepsLength: whether `Content-Length` stays, which says how long the body of an answer without one would be.
    ///   - dropsProtocolSession: whether `Mcp-Session-Id` is left out.
    ///   - date: the current time, for a final answer that has no `Date` (RFC 9110 section 6.6.1); nil for an interim
    ///     one.
    package static func head(
        of response: ResponseHead, for form: AnswerFields.Form, ownsCORS: Bool, keepsLength: Bool,
        dropsProtocolSession: Bool = false, date: @autoclosure () -> String?
    ) -> AnswerHead {
        // Leaves room for the fields that the connection adds and for a small body.
        var head = AnswerHead(passingOn: response, form, room: 768)
        head.fields.add(of: response) { field in
            !(dropsProtocolSession && field.id == .mcpSessionID)
                && passes(field, of: response, ownsCORS: ownsCORS, keepsLength: keepsLength)
        }
        if !response.present.contains(.date), let date = date() { head.fields.add("Date", date) }
        return head
    }

    private static func passes(
        _ field: HeaderField, of response: ResponseHead, ownsCORS: Bool, keepsLength: Bool
    ) -> Bool {
        if field.id.isHopByHop { return false }
        switch field.id {
        case .contentLength: return keepsLength
        case .setCookie: return !response.withBytes(field.value) { CookieHeader.setsGatewayCookie($0) }
        case .xGatehouse: return false
        default: break
        }
        if !response.connectionNominated.isEmpty,
            response.isNominated(field, by: response.connectionNominated)
        {
            return false
        }
        return !(ownsCORS && isCORS(response, field))
    }

    private static func isCORS(_ response: ResponseHead, _ field: HeaderField) -> Bool {
        guard field.name.count > 15 else { return false }
        return response.equals(ByteRange(start: field.name.start, end: field.name.start + 15), "access-control-")
    }

    /// Whether every field value is UTF-8.
    package static func isText(_ response: ResponseHead) -> Bool {
        guard response.bytes.readableBytesView.contains(where: { $0 >= 0x80 }) else { return true }
        return response.fields.allSatisfy { field in
            response.withBytes(field.value) { String(validating: $0, as: UTF8.self) != nil }
        }
    }

    /// Whether the answer is a stream of server-sent events.
    package static func isEventStream(_ response: ResponseHead) -> Bool {
        guard let type = response.first(.contentType), type.value.count >= 17 else { return false }
        let start = ByteRange(start: type.value.start, end: type.value.start + 17)
        guard response.equals(start, "text/event-stream") else { return false }
        guard type.value.count > 17 else { return true }
        return response.withBytes(ByteRange(start: start.end, end: start.end + 1)) { bytes in
            bytes.first == UInt8(ascii: ";") || bytes.first == UInt8(ascii: " ")
        }
    }
}
