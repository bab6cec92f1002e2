/// Scopes (RFC 6749 section 3.3): scope-tokens separated by single spaces.
package enum Scope {
    static let maximumCount = 64

    /// The scope-tokens of a `scope` value without duplicates; nil if it is malformed.
    package static func parse(_ text: String) -> [String]? {
        if text.utf8.isEmpty { return [] }
        var result: [String] = []
        for part in text.utf8.split(separator: 0x20, omittingEmptySubsequences: false) {
            guard let token = String(part), isScopeToken(token), result.count < maximumCount else { return nil }
            if !contains(result, token) { result.append(token) }
        }
        return result
    }

    /// The value of `scope`.
    package static func text(_ scope: [String]) -> String { scope.joined(separator: " ") }

    /// Whether the text is a scope-token: 1 to 128 characters of `%x21 / %x23-5B / %x5D-7E`.
    package static func isScopeToken(_ text: String) -> Bool {
        NameRule.isToken(text) && text.utf8.allSatisfy { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// Whether the scope contains this token, compared byte for byte.
    package static func contains(_ scope: [String], _ token: String) -> Bool {
        scope.contains { sameBytes($0, token) }
    }

    /// Whether `granted` contains all tokens of `wanted`.
    package static func covers(_ granted: [String], _ wanted: [String]) -> Bool {
        wanted.allSatisfy { contains(granted, $0) }
    }
}
