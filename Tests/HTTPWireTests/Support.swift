import HTTPWire
import NIOCore

/// The outcome of parsing one request, which the tables compare.
enum Outcome: Equatable, CustomStringConvertible {
    case accepted
    case unfinished
    case refused(WireError.Code)

    var description: String {
        switch self {
        case .accepted: "accepted"
        case .unfinished: "unfinished"
        case .refused(let code): "refused: \(code.rawValue)"
        }
    }
}

extension ParseResult {
    var outcome: Outcome {
        switch self {
        case .needMoreData: .unfinished
        case .head: .accepted
        case .failed(let error): .refused(error.code)
        }
    }

    var value: Head? {
        if case .head(let head) = self { head } else { nil }
    }
}

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

/// A body decoded to its end or to a refusal.
struct BodyOutcome: Equatable {
    var data: [UInt8] = []
    var isComplete = false
    var error: WireError.Code?
    var left = 0

    /// Decodes `bytes` in pieces of at most `step` bytes.
    init(_ framing: BodyFraming, _ bytes: [UInt8], step: Int = .max, maxSlice: Int = .max) {
        var decoder = BodyDecoder(framing)
        var buffer = ByteBuffer()
        var rest = bytes[...]
        while true {
            switch decoder.next(&buffer, maxSlice: maxSlice) {
            case .data(var piece): self.data += piece.readBytes(length: piece.readableBytes) ?? []
            case .end:
                self.isComplete = true
                self.left = buffer.readableBytes + rest.count
                return
            case .failed(let error):
                self.error = error.code
                return
            case .needMoreData:
                guard !rest.isEmpty else { return }
                buffer.writeBytes(rest.prefix(step))
                rest = rest.dropFirst(step)
            }
        }
    }
}
