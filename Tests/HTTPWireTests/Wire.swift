import HTTPWire
import NIOCore

enum Wire {
    /// A request with the given fields after a valid Host.
    static func request(_ fields: String...) -> String {
        "POST /x HTTP/1.1\r\nHost: a.example\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    static func bytes(_ text: String) -> [UInt8] {
        Array(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    /// Text whose scalars up to U+00FF stand for single bytes.
    static func buffer(_ text: String) -> ByteBuffer { ByteBuffer(bytes: bytes(text)) }

    static func parse(_ text: String, limits: WireLimits = WireLimits()) -> ParseResult<RequestHead> {
        var buffer = buffer(text)
        return RequestHead.parse(&buffer, limits: limits)
    }

    static func parseResponse(_ text: String, requestWasHead: Bool = false) -> ParseResult<ResponseHead> {
        var buffer = buffer(text)
        return ResponseHead.parse(&buffer, requestWasHead: requestWasHead)
    }

    /// Feeds one byte after the other, and returns how many were needed for a result.
    static func drip(_ bytes: [UInt8], limits: WireLimits = WireLimits()) -> (ParseResult<RequestHead>, taken: Int) {
        var scanner = HeadScanner(limits: limits)
        var buffer = ByteBuffer()
        for (index, byte) in bytes.enumerated() {
            buffer.writeInteger(byte)
            let result = scanner.feed(&buffer)
            if result.outcome != .unfinished { return (result, index + 1) }
        }
        return (.needMoreData, bytes.count)
    }

    static func dripResponse(_ bytes: [UInt8], requestWasHead: Bool) -> ParseResult<ResponseHead> {
        var scanner = ResponseScanner()
        var buffer = ByteBuffer()
        for byte in bytes {
            buffer.writeInteger(byte)
            let result = scanner.feed(&buffer, requestWasHead: requestWasHead)
            if result.outcome != .unfinished { return result }
        }
        return .needMoreData
    }
}
