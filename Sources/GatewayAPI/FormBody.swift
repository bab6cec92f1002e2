import Answers

/// The parameters of an `application/x-www-form-urlencoded` body, each at most once (RFC 6749 section 3.2).
package struct FormBody: Sendable {
    private static let maximumCount = 64
    private var parameters: [(name: [UInt8], value: String)] = []

    /// Parses a body.
    package init(_ bytes: [UInt8]) throws(OAuthProblem) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let rest = pair.dropFirst(name.count).dropFirst()
            guard let name = Self.decode(name), let value = Self.decode(rest),
                let text = String(validating: value, as: UTF8.self)
            else { throw OAuthProblem(.invalidRequest, "The body is not well-formed form data.") }
            guard parameters.count < Self.maximumCount else {
                throw OAuthProblem(.invalidRequest, "There are too many parameters.")
            }
            guard !parameters.contains(where: { $0.name == name }) else {
                throw OAuthProblem(.invalidRequest, "A parameter is there more than once.")
            }
            parameters.append((name, text))
        }
    }

    /// The value of a parameter; one without a value counts as absent.
    package subscript(name: String) -> String? {
        guard let found = parameters.first(where: { $0.name.elementsEqual(name.utf8) }) else { return nil }
        return found.value.isEmpty ? nil : found.value
    }

    /// The value of a required parameter.
    package func required(_ name: String) throws(OAuthProblem) -> String {
        guard let value = self[name] else { throw OAuthProblem(.invalidRequest, "'\(name)' is needed.") }
        return value
    }

    /// Decodes percent-encoding, with `+` for a space; nil for an invalid escape.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(nibble), let low = rest.popFirst().flatMap(nibble) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
