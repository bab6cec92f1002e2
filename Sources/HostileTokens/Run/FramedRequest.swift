/// A request of HTTP/2 as frames. Nothing in it is checked, so that malformed requests can be sent.
package struct FramedRequest: Sendable {
    package typealias Field = (name: [UInt8], value: [UInt8])

    /// The first bytes of a connection (RFC 9113 section 3.4).
    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let frameLimit = 16_384
    /// The initial flow-control window in bytes (RFC 9113 section 6.9.2). Longer bodies are cut off.
    private static let window = 65_535

    /// All fields, pseudo-header fields first.
    package var fields: [Field]
    /// The body; at most 65,535 bytes of it are sent.
    package var body: [UInt8]
    /// The fields after the body, which fit into one frame.
    package var trailers: [Field] = []
    /// Whether the stream stays open after the request, as that of a WebSocket does.
    package var staysOpen = false

    /// A request with these fields in their order. Nothing is added, neither `:authority` nor `content-length`.
    package init(fields: [Field], body: [UInt8] = []) {
        self.fields = fields
        self.body = body
    }

    /// Adds a field.
    mutating func add(_ name: String, _ value: String) {
        fields.append((Array(name.utf8), Array(value.utf8)))
    }

    /// Changes the value of the first field with this name.
    mutating func change(_ name: String, _ change: (String) -> String) {
        guard let index = fields.firstIndex(where: { $0.name.elementsEqual(name.utf8) }) else { return }
        fields[index].value = Array(change(String(decoding: fields[index].value, as: UTF8.self)).utf8)
    }

    // MARK: Frames

    /// The request as the frames of stream 1.
    ///
    /// HEADERS and CONTINUATION, then DATA, then the trailers as HEADERS. The last frame ends the stream, unless there
    /// are neither body nor trailers and ``staysOpen`` is set.
    package var frames: [UInt8] {
        let content = body.prefix(Self.window)
        let isOnlyHead = content.isEmpty && trailers.isEmpty && !staysOpen
        var bytes: [UInt8] = []
        var rest = Self.block(fields)[...]
        repeat {
            let isFirst = bytes.isEmpty
            let part = rest.prefix(Self.frameLimit)
            rest = rest.dropFirst(Self.frameLimit)
            let flags: UInt8 = (rest.isEmpty ? 4 : 0) | (isFirst && isOnlyHead ? 1 : 0)
            bytes += Self.frame(type: isFirst ? 1 : 9, flags: flags, stream: 1, part)
        } while !rest.isEmpty
        rest = content
        while !rest.isEmpty {
            let part = rest.prefix(Self.frameLimit)
            rest = rest.dropFirst(Self.frameLimit)
            bytes += Self.frame(type: 0, flags: rest.isEmpty && trailers.isEmpty ? 1 : 0, stream: 1, part)
        }
        if !trailers.isEmpty { bytes += Self.frame(type: 1, flags: 5, stream: 1, Self.block(trailers)[...]) }
        return bytes
    }

    /// Literals without indexing (RFC 7541 section 6.2.2), so that every byte is sent as it is.
    private static func block(_ fields: [Field]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields { block += [0] + string(name) + string(value) }
        return block
    }

    /// One frame (RFC 9113 section 4.1).
    ///
    /// - Parameters:
    ///   - type: 0 for DATA, 1 for HEADERS, 9 for CONTINUATION.
    ///   - stream: the identifier, 0 to 255.
    ///   - payload: at most 16,384 bytes, which is not checked.
    package static func frame(type: UInt8, flags: UInt8, stream: UInt8, _ payload: ArraySlice<UInt8>) -> [UInt8] {
        let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
        return length + [type, flags, 0, 0, 0, stream] + payload
    }

    /// A string literal of HPACK, not compressed (RFC 7541 section 5.2).
    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var digits: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            digits.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return digits + [UInt8(truncatingIfNeeded: rest)] + bytes
    }
}

extension RawRequest {
    /// A request as frames of HTTP/2, with the preface of the connection in front.
    init(_ request: FramedRequest) {
        self.init(bytes: FramedRequest.preface + request.frames)
    }

    /// The frames behind the preface; nil for a request of HTTP/1.1.
    package var frames: [UInt8]? {
        bytes.starts(with: FramedRequest.preface) ? Array(bytes.dropFirst(FramedRequest.preface.count)) : nil
    }
}
