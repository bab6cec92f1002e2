import Encodings
import Libcrypto

/// The hash chain of the audit log: each line contains the SHA-256 of the previous line and of itself.
///
/// A line is one JSON object that ends in `,"prev":"…","hash":"…"}`. The hash covers the bytes of the line up to the
/// comma before `"hash"`, so it can be checked without parsing JSON.
struct AuditChain: Sendable, Equatable {
    /// The value of `prev` in the first line.
    static let origin = String(repeating: "0", count: 64)
    /// The event of the first line of a file that goes on from another one.
    static let continued = "audit.continued"
    /// The length of `,"hash":"`, 64 digits and `"}`.
    private static let tailLength = 9 + 64 + 2

    /// The hash of the last line.
    private(set) var head = AuditChain.origin
    /// The sequence number of the last line.
    private(set) var sequence: Int64 = 0

    /// Makes the next line, without a newline.
    mutating func append(_ members: JSONObject, at time: String) -> String {
        var line: JSONObject = ["seq": .integer(sequence + 1), "time": .string(time)]
        for (name, value) in members.members where !["seq", "time", "prev", "hash"].contains(name) {
            line[name] = value
        }
        line["prev"] = .string(head)
        let text = String(JSONValue.object(line).serialized().dropLast())
        head = Self.hash(text.utf8)
        sequence += 1
        return text + ",\"hash\":\"\(head)\"}"
    }

    /// Continues with a line that was read from a log. False if it does not follow the last one.
    mutating func accept(_ line: some BidirectionalCollection<UInt8>) -> Bool {
        guard line.count > Self.tailLength else { return false }
        let body = line.dropLast(Self.tailLength)
        let hash = Self.hash(body)
        guard line.suffix(Self.tailLength).elementsEqual(",\"hash\":\"\(hash)\"}".utf8),
            let object = try? StrictJSON.object(Array(line)),
            object["seq"]?.int64Value == sequence + 1, object["prev"]?.stringValue == head
        else { return false }
        head = hash
        sequence += 1
        return true
    }

    /// A chain that continues after this line, whose predecessors are not checked; nil if the line's own hash is wrong.
    static func resuming(after line: some BidirectionalCollection<UInt8>) -> AuditChain? {
        guard let object = try? StrictJSON.object(Array(line)), let sequence = object["seq"]?.int64Value,
            let prev = object["prev"]?.stringValue, sequence > 0
        else { return nil }
        var chain = AuditChain()
        chain.head = prev
        chain.sequence = sequence - 1
        return chain.accept(line) ? chain : nil
    }

    /// The chain with the first line of a file: one that begins a log, or one that says which hash it goes on from. Nil
    /// for any other line.
    static func beginning(with line: some BidirectionalCollection<UInt8>) -> AuditChain? {
        var chain = AuditChain()
        if chain.accept(line) { return chain }
        guard isContinued(line) else { return nil }
        return resuming(after: line)
    }

    /// Whether the line says that its file goes on from another one.
    static func isContinued(_ line: some BidirectionalCollection<UInt8>) -> Bool {
        (try? StrictJSON.object(Array(line)))?["event"]?.stringValue == continued
    }

    /// SHA-256, in hexadecimal.
    private static func hash(_ bytes: some Collection<UInt8>) -> String {
        Hexadecimal.text(Digest.sha256(bytes))
    }
}
