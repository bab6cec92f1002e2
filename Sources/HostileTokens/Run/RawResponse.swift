/// An answer, parsed leniently.
public struct RawResponse: Sendable, Equatable {
    /// The status.
    public let status: Int
    /// The bytes after the head, with the framing of chunks.
    public let body: [UInt8]
    /// All bytes that were received, including interim answers.
    public let bytes: [UInt8]
    /// Whether it had not ended when nothing more of it was read: it takes too long, or is too long.
    public var isCut = false
    /// The names in lower case.
    private let fields: [Field]

    private struct Field: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// An answer.
    public init(
        status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = [], bytes: [UInt8]? = nil
    ) {
        self.status = status
        self.body = body
        self.fields = fields.map { Field(name: $0.name.lowercased(), value: $0.value) }
        self.bytes =
            bytes
            ?? Array(
                ("HTTP/1.1 \(status) \r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
            + body
    }

    /// Parses what has arrived so far; nil until the head of a final answer is complete.
    ///
    /// Line ends of LF alone are accepted, because the answers of faulty targets are judged too.
    public init?(parsing bytes: [UInt8]) {
        var start = bytes.startIndex
        // At most this many interim answers are read.
        for _ in 0..<32 {
            guard let end = Self.headEnd(bytes[start...]) else { return nil }
            let lines = String(decoding: bytes[start..<end.head], as: UTF8.self).split(whereSeparator: \.isNewline)
            let words = lines.first?.split(separator: " ", maxSplits: 2) ?? []
            guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
            guard (100..<200).contains(status), status != 101 else {
                let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
                    guard let colon = line.firstIndex(of: ":") else { return nil }
                    return (String(line[..<colon]), line[line.index(after: colon)...].trimmingSpaces)
                }
                self.init(status: status, fields: fields, body: Array(bytes[end.body...]), bytes: bytes)
                return
            }
            start = end.body
        }
        return nil
    }

    /// The first value of the field with this lower-case name.
    public func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All values of the field with this lower-case name.
    public func fields(_ name: String) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// The body without the framing of chunks.
    public var content: [UInt8] {
        guard field("transfer-encoding")?.lowercased() == "chunked" else { return body }
        var content: [UInt8] = []
        var rest = body[...]
        while let newline = rest.firstIndex(of: 0x0A) {
            let digits = rest[..<newline].prefix { $0 != 0x3B && $0 != 0x0D }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size > 0 else { break }
            let start = newline + 1
            content += rest[start...].prefix(size)
            let (end, overflow) = start.addingReportingOverflow(size)
            guard !overflow, end < rest.endIndex, let next = rest[end...].firstIndex(of: 0x0A) else { break }
            rest = rest[(next + 1)...]
        }
        return content
    }

    /// Whether the status is 2xx.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether the answer is complete, so that there is no need to wait for the end of the connection.
    ///
    /// Without a length or chunks this is false, and only the end of the connection ends the answer, unless its status
    /// has no body.
    public var isComplete: Bool {
        if status == 101 || status == 204 || status == 304 { return true }
        if let length = field("content-length").flatMap(Int.init) { return body.count >= length }
        return field("transfer-encoding") != nil && body.suffix(5).elementsEqual("0\r\n\r\n".utf8)
    }

    private static func headEnd(_ bytes: ArraySlice<UInt8>) -> (head: Int, body: Int)? {
        var index = bytes.startIndex
        while let newline = bytes[index...].firstIndex(of: 0x0A) {
            var next = newline + 1
            if next < bytes.endIndex, bytes[next] == 0x0D { next += 1 }
            if next < bytes.endIndex, bytes[next] == 0x0A { return (newline, next + 1) }
            index = newline + 1
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
