import NIOCore
import NIOEmbedded
import NIOHTTP1

/// Messages as framed by llhttp, which is used through swift-nio's decoders.
struct Reference {
    var messages: [FramedMessage] = []
    var error: String?

    /// The methods of RFC 9110 that llhttp knows. It refuses all other tokens. Here every token is accepted, and the
    /// edge answers methods that it does not serve: an intended difference.
    private static let methods: Set<Substring> = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]

    static func knowsMethod(of message: FramedMessage) -> Bool {
        message.start.split(separator: " ").first.map(methods.contains) ?? false
    }

    static func requests(_ bytes: [UInt8]) -> Reference {
        let channel = EmbeddedChannel(
            handler: ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
        var reference = Reference()
        reference.write(bytes, to: channel)
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head):
                let start = "\(head.method.rawValue) \(head.uri) \(head.version.major).\(head.version.minor)"
                reference.messages.append(FramedMessage(start: start, fields: lines(head.headers)))
            case .body(let body): reference.append(body)
            case .end: reference.endMessage()
            }
        }
        _ = try? channel.finish()
        return reference
    }

    static func responses(_ bytes: [UInt8]) -> Reference {
        let channel = EmbeddedChannel(
            handler: ByteToMessageHandler(
                HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop)))
        for _ in 0..<16 {
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
            _ = try? channel.writeOutbound(HTTPClientRequestPart.head(head))
        }
        var reference = Reference()
        reference.write(bytes, to: channel)
        while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
            switch part {
            case .head(let head):
                let start = "\(head.status.code) \(head.version.major).\(head.version.minor)"
                reference.messages.append(FramedMessage(start: start, fields: lines(head.headers)))
            case .body(let body): reference.append(body)
            case .end: reference.endMessage()
            }
        }
        _ = try? channel.finish()
        return reference
    }

    private static func lines(_ headers: HTTPHeaders) -> [String] {
        headers.map { "\($0.name.lowercased()): \($0.value.trimmingOptionalWhitespace())" }
    }

    private mutating func write(_ bytes: [UInt8], to channel: EmbeddedChannel) {
        do {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        } catch {
            self.error = "\(error)"
        }
    }

    private mutating func append(_ body: ByteBuffer) {
        guard !messages.isEmpty else { return }
        messages[messages.count - 1].body += Array(body.readableBytesView)
    }

    private mutating func endMessage() {
        guard !messages.isEmpty else { return }
        messages[messages.count - 1].isComplete = true
    }
}

extension String {
    fileprivate func trimmingOptionalWhitespace() -> String {
        var view = utf8[...]
        while view.first == 0x20 || view.first == 0x09 { view.removeFirst() }
        while view.last == 0x20 || view.last == 0x09 { view.removeLast() }
        return String(Substring(view))
    }
}

extension FramedConnection {
    /// The reference drops interim answers, so they are dropped here as well.
    var withoutInterim: FramedConnection {
        var connection = self
        connection.messages.removeAll { $0.start.hasPrefix("1") && !$0.start.hasPrefix("101") }
        return connection
    }
}
