import Encodings

/// Scopes (RFC 6749 section 3.3): scope-tokens separated by single spaces.
package enum Scope {
    /// The most scope-tokens of one value.
    package static let maximumCount = 64

    /// The scope-tokens of a `scope` value without duplicates; nil if it is malformed.
    package static func parse(_ text: String) -> [String]? {
        text.utf8.isEmpty ? [] : tokens(in: text.utf8.split(separator: 0x20, omittingEmptySubsequences: false))
    }

    /// The same, with spaces at the ends and several in a row, as some agents send them with a request for
    /// authorization or a registration.
    package static func parseWithExtraSpaces(_ text: String) -> [String]? {
        tokens(in: text.utf8.split(separator: 0x20))
    }

    private static func tokens(in parts: [Substring.UTF8View]) -> [String]? {
        var result: [String] = []
        for part in parts {
            guard let token = String(part), isScopeToken(token) else { return nil }
            if !contains(result, token) { result.append(token) }
            guard result.count <= maximumCount else { return nil }
        }
        return result
    }

    /// The value of `scope`.
    package static func text(_ scope: [String]) -> String { scope.joined(separator: " ") }

    /// Whether the text is a scope-token: 1 to 128 characters of `%x21 / %x23-5B / %x5D-7E`.
    package static func isScopeToken(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
    }

    /// Whether the scope contains this token, compared byte for byte.
    package static func contains(_ scope: [String], _ token: String) -> Bool {
        scope.contains { $0.hasSameBytes(as: token) }
    }

    /// Whether `granted` contains all tokens of `wanted`.
    package static func covers(_ granted: [String], _ wanted: [String]) -> Bool {
        wanted.allSatisfy { contains(granted, $0) }
    }
}
