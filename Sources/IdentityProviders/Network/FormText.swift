/// One parameter of a query or of an `application/x-www-form-urlencoded` body.
package struct FormParameter: Sendable, Equatable {
    /// The name, before it is encoded.
    package let name: String
    /// The value, before it is encoded.
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Text of parameters, for queries and for `application/x-www-form-urlencoded` bodies alike: every byte that RFC 3986
/// does not call unreserved is percent-encoded, a space too, so that both readings give the same.
package enum FormText {
    /// `name=value` pairs with `&` between them.
    package static func encode(_ parameters: [FormParameter]) -> String {
        parameters.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
    }

    /// One name or value.
    package static func encode(_ text: String) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                out.append(byte)
            } else {
                out.append(UInt8(ascii: "%"))
                out.append(digits[Int(byte >> 4)])
                out.append(digits[Int(byte & 0x0F)])
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// One name or value as RFC 6749 appendix B has it, with `+` for a space: for the client's part of HTTP Basic, where
    /// servers may compare what they read with what they would have written.
    package static func encodeForm(_ text: String) -> String { encode(text).replacing("%20", with: "+") }

    /// The parameters of a query or body, at most `limit` of them.
    ///
    /// Nil if there are more, if an escape is broken, or if what is escaped is not UTF-8. `+` is a space.
    package static func decode(_ text: String, limit: Int = 64) -> [FormParameter]? {
        var result: [FormParameter] = []
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            guard result.count < limit else { return nil }
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            guard let nameText = unescaped(name), let value = unescaped(pair.dropFirst(name.count + 1)) else {
                return nil
            }
            result.append(FormParameter(nameText, value))
        }
        return result
    }

    private static func unescaped(_ bytes: Substring.UTF8View) -> String? {
        Self.bytes(unescaping: bytes).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The bytes that a name or value stands for, with `+` for a space; nil for a broken escape.
    package static func bytes(unescaping bytes: some Collection<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): out.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                    return nil
                }
                out.append(high << 4 | low)
            default: out.append(byte)
            }
        }
        return out
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
