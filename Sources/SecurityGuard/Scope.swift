/// Scopes as RFC 6749 §3.3 writes them: scope-tokens, one space between two of them.
package enum Scope {
    static let maximumCount = 64

    /// The scope-tokens of a `scope` value, without repeats; nil when it is not one.
    package static func parse(_ text: String) -> [String]? {
        if text.utf8.isEmpty { return [] }
        var result: [String] = []
        for part in text.utf8.split(separator: 0x20, omittingEmptySubsequences: false) {
            guard let token = String(part), isScopeToken(token), result.count < maximumCount else { return nil }
            if !contains(result, token) { result.append(token) }
        }
        return result
    }

    package static func text(_ scope: [String]) -> String { scope.joined(separator: " ") }

    /// `%x21 / %x23-5B / %x5D-7E`, at most 128 of them.
    package static func isScopeToken(_ text: String) -> Bool {
        NameRule.isToken(text) && text.utf8.allSatisfy { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    package static func contains(_ scope: [String], _ token: String) -> Bool {
        scope.contains { sameBytes($0, token) }
    }

    /// Whether everything in `wanted` is in `granted`.
    package static func covers(_ granted: [String], _ wanted: [String]) -> Bool {
        wanted.allSatisfy { contains(granted, $0) }
    }
}
