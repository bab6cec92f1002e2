import StateSurface

/// What is known of a person besides the e-mail: a name for people, and groups.
package struct AccountProfile: Sendable, Equatable {
    /// The most groups, and the longest of them, in bytes.
    package static let maximumGroups = 100
    package static let maximumGroupBytes = 128
    /// The longest name, in bytes.
    package static let maximumNameBytes = 256

    /// The name that people are shown; nil if it is not known.
    package var name: String?
    /// As the identity provider told them at the last sign-in.
    package var groups: [String]

    package init(name: String? = nil, groups: [String] = []) {
        self.name = name
        self.groups = groups
    }

    /// The profile in the form in which it is stored: an empty name is none, a group is there once.
    /// - Throws: ``AuthError`` `.invalidRequest` for a name or group that is too long or has control characters, and
    ///   for too many groups.
    package func checked() throws(AuthError) -> AccountProfile {
        let name = name.flatMap { $0.utf8.isEmpty ? nil : $0 }
        if let name, name.utf8.count > Self.maximumNameBytes || Self.hasControls(name) {
            throw AuthError(.invalidRequest, "a name has 1 to 256 bytes without control characters")
        }
        var unique: [String] = []
        for group in groups where !unique.contains(where: { sameBytes($0, group) }) { unique.append(group) }
        guard unique.count <= Self.maximumGroups,
            unique.allSatisfy({ (1...Self.maximumGroupBytes).contains($0.utf8.count) && !Self.hasControls($0) })
        else {
            throw AuthError(.invalidRequest, "up to 100 groups of 1 to 128 bytes without control characters")
        }
        return AccountProfile(name: name, groups: unique)
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}

extension Accounts {
    /// Replaces the name, the groups or both, for operators. Running gateways learn of it from the change feed.
    ///
    /// - Parameters:
    ///   - name: nil to keep it, empty for none.
    ///   - groups: nil to keep them.
    /// - Throws: ``AuthError`` `.notFound`, `.invalidRequest`, or `.conflict` if others keep changing the account.
    package func describe(userID: String, name: String?, groups: [String]?) async throws {
        for _ in 0..<8 {
            guard var account = try await state.account(userID: userID) else { throw AuthError(.notFound) }
            let profile = try AccountProfile(name: name ?? account.name, groups: groups ?? account.groups).checked()
            account.name = profile.name
            account.groups = profile.groups
            if try await state.replace(account: account) { return }
        }
        throw AuthError(.conflict, "the account was changed at the same moment; try again")
    }
}
