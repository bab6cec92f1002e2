import Encodings

/// Which scopes an agent gets.
package enum ScopeAlgebra {
    /// The most scopes of one request.
    package static let maximumCount = 64

    /// The scope-tokens of a `scope` parameter (RFC 6749 section 3.3) without duplicates; nil if it is malformed.
    package static func parse(_ text: String) -> [String]? {
        var scopes: [String] = []
        for part in text.utf8.split(separator: 0x20) {
            guard part.count <= 128, part.allSatisfy(isScopeByte), let scope = String(part) else { return nil }
            if !contains(scopes, scope) { scopes.append(scope) }
            guard scopes.count <= maximumCount else { return nil }
        }
        return scopes
    }

    /// Those of the resource's scopes that were asked for, or all of them if none were, as far as the client's list and
    /// the account's rights allow. In the resource's order.
    ///
    /// - Parameters:
    ///   - asked: what was asked for; unknown ones are dropped.
    ///   - client: the client's list; empty if it has none.
    ///   - mayHave: whether the account may have a scope.
    package static func granted(
        asked: [String], resource: [String], client: [String], mayHave: (String) -> Bool
    ) -> [String] {
        resource.filter { scope in
            (asked.isEmpty || contains(asked, scope)) && (client.isEmpty || contains(client, scope)) && mayHave(scope)
        }
    }

    /// Whether the list contains the scope, byte for byte.
    package static func contains(_ scopes: [String], _ scope: String) -> Bool {
        scopes.contains { $0.hasSameBytes(as: scope) }
    }

    /// Whether `all` contains every scope of `part`.
    package static func covers(_ all: [String], _ part: [String]) -> Bool { part.allSatisfy { contains(all, $0) } }

    private static func isScopeByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
