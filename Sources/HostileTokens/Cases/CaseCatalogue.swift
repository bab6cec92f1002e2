/// All cases.
public enum CaseCatalogue {
    /// All cases: tokens first, then sessions, refresh tokens, OAuth, WebSockets, the proxy and HTTP.
    public static let all: [HostileCase] =
        AttackCatalogue.all.map(HostileCase.token) + probes.map(HostileCase.probe)

    private static let probes: [Probe] = [
        TokenProbes.all, SessionProbes.all, RefreshProbes.all, AuthorizeProbes.all, GrantProbes.all, ResourceProbes.all,
        SocketProbes.all, LeaseProbes.all, RequestProbes.all, UpstreamProbes.all, AnswerProbes.all, DesyncProbes.all,
        DowngradeProbes.all,
    ].flatMap(\.self)

    /// The cases that match one pattern of `only` and none of `skip`.
    ///
    /// - Parameters:
    ///   - only: ids, or patterns with `*` and `?`; empty for all cases.
    ///   - skip: ids or patterns of cases to leave out.
    public static func cases(only: [String] = [], skip: [String] = []) -> [HostileCase] {
        all.filter { Glob.selects($0.info.id, only: only, skip: skip) }
    }

    /// The case with this id, or nil.
    public static func named(_ id: String) -> HostileCase? {
        all.first { $0.info.id.utf8.elementsEqual(id.utf8) }
    }
}

/// Patterns in which `*` stands for any text and `?` for one byte.
public enum Glob {
    /// Whether one pattern of `only` matches, or there are none, and none of `skip` does.
    public static func selects(_ text: String, only: [String], skip: [String]) -> Bool {
        (only.isEmpty || only.contains { matches($0, text) }) && !skip.contains { matches($0, text) }
    }

    /// Whether the whole text matches. The time is at most proportional to the product of the lengths.
    public static func matches(_ pattern: String, _ text: String) -> Bool {
        let pattern = Array(pattern.utf8)
        let text = Array(text.utf8)
        var place = 0
        var index = 0
        // The position to return to when the text after the last star does not match.
        var star: (place: Int, index: Int)?
        while index < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, index)
                place += 1
            } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") || pattern[place] == text[index] {
                place += 1
                index += 1
            } else if let last = star {
                star = (last.place, last.index + 1)
                place = last.place + 1
                index = last.index + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
