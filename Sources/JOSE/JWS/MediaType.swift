/// A media type in `typ` or `cty` (RFC 7515 section 4.1.9): `application/` may be omitted, and case is ignored.
struct MediaType {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    func isSame(as other: String) -> Bool {
        Self.short(text).elementsEqual(Self.short(other)) { Self.lowered($0) == Self.lowered($1) }
    }

    private static func short(_ text: String) -> Substring.UTF8View {
        let prefix = "application/".utf8
        let bytes = text[...].utf8
        guard bytes.count > prefix.count, bytes.prefix(prefix.count).elementsEqual(prefix, by: { lowered($0) == $1 })
        else { return bytes }
        let rest = bytes.dropFirst(prefix.count)
        return rest.contains(UInt8(ascii: "/")) ? bytes : rest
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
