import Gate
import HTTPWire
import NIOCore

/// Writes the head of an upstream's answer as the client gets it.
package enum ResponseFilter {
    /// The status line and the fields that are passed on. The client's connection adds framing and `Connection`.
    ///
    /// - Parameter ownsCORS: whether the gateway answers CORS questions on this route, so that the upstream's
    ///   `Access-Control-*` fields are left out.
    /// - Parameter dropsProtocolSession: whether `Mcp-Session-Id` is left out.
    /// - Parameter date: the current time, for a final answer that has no `Date` (RFC 9110 section 6.6.1); nil for an
    ///   interim one.
    package static func head(
        of response: ResponseHead, ownsCORS: Bool, keepsLength: Bool, dropsProtocolSession: Bool = false,
        date: @autoclosure () -> String?
    ) -> ByteBuffer {
        var out = ByteBuffer()
        // Leaves room for the fields that the connection adds and for a small body.
        out.reserveCapacity(response.bytes.readableBytes + 768)
        HeadWriter.statusLine(of: response, to: &out)
        var run: ByteRange?
        func endRun() {
            guard let piece = run else { return }
            response.withBytes(piece) { _ = out.writeBytes($0) }
            out.writeStaticString("\r\n")
            run = nil
        }
        for field in response.fields {
            let isDropped = dropsProtocolSession && field.id == .mcpSessionID
            guard !isDropped, passes(field, of: response, ownsCORS: ownsCORS, keepsLength: keepsLength) else {
                endRun()
                continue
            }
            if let piece = run, piece.end + 2 == field.name.start {
                run = ByteRange(start: piece.start, end: field.value.end)
            } else {
                endRun()
                run = ByteRange(start: field.name.start, end: field.value.end)
            }
        }
        endRun()
        if !response.present.contains(.date), let date = date() {
            out.writeStaticString("Date: ")
            out.writeString(date)
            out.writeStaticString("\r\n")
        }
        return out
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
