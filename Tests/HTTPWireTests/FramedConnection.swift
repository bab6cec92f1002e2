import HTTPWire
import NIOCore

/// One message as a parser framed it.
struct FramedMessage: Equatable {
    var start: String
    var fields: [String]
    var body: [UInt8] = []
    var isComplete = false
}

/// Why a connection is not read further without an error.
enum Stop: Equatable {
    case none
    /// The message ends the connection or upgrades it.
    case ends
    case refused(WireError.Code)
}

/// Everything that is read from one connection, in pieces of `step` bytes.
struct FramedConnection: Equatable {
    var messages: [FramedMessage] = []
    var stop = Stop.none
    /// The number of bytes of the last message that were left in the buffer.
    var left = 0

    static func requests(_ bytes: [UInt8], step: Int = .max) -> FramedConnection {
        var scanner = HeadScanner()
        return read(bytes, step: step) { buffer, _ in
            switch scanner.feed(&buffer) {
            case .needMoreData: return .needMoreData
            case .failed(let error): return .failed(error)
            case .head(let head):
                let start = "\(head.string(head.method)) \(head.string(head.target)) 1.\(head.versionMinor)"
                let turns = (head.upgradeOffered && head.connectionSaysUpgrade) || head.knownMethod == .connect
                return .head(
                    FramedHead(
                        message: FramedMessage(start: start, fields: lines(head)), framing: head.framing,
                        isLast: !head.keepAlive, turns: turns))
            }
        }
    }

    static func responses(_ bytes: [UInt8], step: Int = .max) -> FramedConnection {
        var scanner = ResponseScanner()
        return read(bytes, step: step) { buffer, _ in
            switch scanner.feed(&buffer, requestWasHead: false) {
            case .needMoreData: return .needMoreData
            case .failed(let error): return .failed(error)
            case .head(let head):
                let message = FramedMessage(start: "\(head.status) 1.\(head.versionMinor)", fields: lines(head))
                return .head(
                    FramedHead(
                        message: message, framing: head.framing, isLast: !head.keepAlive && head.status >= 200,
                        turns: head.status == 101))
            }
        }
    }

    struct FramedHead: Sendable {
        var message: FramedMessage
        var framing: BodyFraming
        var isLast: Bool
        var turns: Bool
    }

    private static func lines(_ head: some MessageHead) -> [String] {
        head.fields.map { "\(head.string($0.name).lowercased()): \(head.string($0.value))" }
    }

    private static func read(
        _ bytes: [UInt8], step: Int, _ feed: (inout ByteBuffer, Int) -> ParseResult<FramedHead>
    ) -> FramedConnection {
        var connection = FramedConnection()
        var buffer = ByteBuffer()
        var rest = bytes[...]
        var body: BodyDecoder?
        var isLast = false
        while true {
            if body == nil {
                switch feed(&buffer, step) {
                case .needMoreData: break
                case .failed(let error):
                    connection.stop = .refused(error.code)
                    return connection
                case .head(let head):
                    connection.messages.append(head.message)
                    isLast = head.isLast
                    if head.turns {
                        connection.stop = .ends
                        return connection
                    }
                    body = BodyDecoder(head.framing)
                }
            }
            if body != nil, let end = connection.take(&body, &buffer, isLast: isLast) {
                if end { return connection }
                continue
            }
            guard !rest.isEmpty else {
                connection.left = buffer.readableBytes
                return connection
            }
            buffer.writeBytes(rest.prefix(step))
            rest = rest.dropFirst(step)
        }
    }

    /// Reads body data. Nil if more bytes are needed, otherwise whether reading is finished.
    private mutating func take(_ body: inout BodyDecoder?, _ buffer: inout ByteBuffer, isLast: Bool) -> Bool? {
        while true {
            switch body?.next(&buffer) {
            case .data(let data): messages[messages.count - 1].body += Array(data.readableBytesView)
            case .end:
                messages[messages.count - 1].isComplete = true
                body = nil
                if isLast { stop = .ends }
                return isLast
            case .failed(let error):
                stop = .refused(error.code)
                return true
            case .needMoreData, nil: return nil
            }
        }
    }
}
