/// The head of a request as it arrived.
struct Head: Sequence {
    let fields: [(name: String, value: String)]

    /// Reads the fields up to the first empty line, or to the end. The start line and lines without a colon are left
    /// out; names are in lower case.
    init(_ bytes: [UInt8]) {
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound ?? bytes.endIndex
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").dropFirst()
        fields = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
    }

    /// A chunk size that is not a plain hexadecimal number of at most 64 bits with CRLF behind it, or nil.
    ///
    /// Only the first chunk size is read. A body that is not chunked has no fault (RFC 9112 section 7.1).
    static func chunkFault(_ bytes: [UInt8]) -> String? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
            Head(bytes).contains(where: { $0.name == "transfer-encoding" })
        else { return nil }
        let size = bytes[end.upperBound...].prefix { $0 != 0x0D && $0 != 0x0A }
        let isPlain = size.count <= 16 && size.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        return isPlain && bytes[size.endIndex...].first != 0x0A ? nil : "an odd chunk size"
    }

    func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }

    /// The verdict on a request that named the gateway's own headers in `Connection`.
    ///
    /// - Parameter names: names in lower case, which must all have arrived: an option of `Connection` must not take out
    ///   what the gateway adds (RFC 9110 section 7.6.1).
    func judged(has names: [String]) -> Judgement {
        let missing = names.filter { name in !contains { $0.name == name } }
        return missing.isEmpty
            ? .passed("the gateway's own headers arrived")
            : .failed("\(missing.joined(separator: ", ")) did not arrive: the caller took it out")
    }

    /// The name as upstreams see it that turn header names into variables.
    static func alias(_ name: String) -> String {
        name.lowercased().replacing("_", with: "-").replacing(".", with: "-")
    }

    /// The framing fields that two parsers could read differently, or nil.
    ///
    /// A gateway that passes such fields on leaves it to the upstream where the body ends (RFC 9112 sections 6.1 and
    /// 6.3).
    var framingFault: String? {
        let lengths = fields.filter { $0.name == "content-length" }
        let codings = fields.filter { Self.alias($0.name.filter { $0 != " " }) == "transfer-encoding" }
        if !lengths.isEmpty, !codings.isEmpty { return "a length and a coding" }
        if lengths.count > 1 { return "two lengths" }
        if lengths.contains(where: { $0.value.count > 18 || !$0.value.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        {
            return "an odd length"
        }
        return codings.contains { $0.value != "chunked" || $0.name != "transfer-encoding" } || codings.count > 1
            ? "an odd coding" : nil
    }
}
