/// A request as the bytes that are sent.
public struct RawRequest: Sendable, Equatable {
    /// The bytes.
    public let bytes: [UInt8]

    /// A request of bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A request of HTTP/1.1. Nothing in it is checked or escaped.
    init(
        _ method: String, _ target: [UInt8], authority: String, fields: [(name: String, value: [UInt8])],
        body: [UInt8] = []
    ) {
        var bytes = Array("\(method) ".utf8) + target + Array(" HTTP/1.1\r\nHost: \(authority)\r\n".utf8)
        for (name, value) in fields { bytes += Array("\(name): ".utf8) + value + Array("\r\n".utf8) }
        self.init(bytes: bytes + Array("\r\n".utf8) + body)
    }

    /// A request of text.
    init(text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// The method, if the bytes begin with one.
    ///
    /// At most 32 bytes of it; a request of HTTP/2 gives `PRI`.
    var method: String {
        String(decoding: bytes.prefix { $0 != 0x20 }.prefix(32), as: UTF8.self)
    }
}
