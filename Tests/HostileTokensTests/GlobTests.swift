import Testing

@testable import HostileTokens

@Suite("Patterns of ids")
struct GlobTests {
    @Test(
        "A star matches any text, a question mark one byte",
        arguments: [
            ("J01-*", "J01-none", true), ("J01-*", "J02-none", false), ("*", "", true), ("", "", true),
            ("", "a", false),
            ("J0?-none", "J01-none", true), ("J0?-none", "J0-none", false), ("*-x", "a-x-x", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false), ("J01-none", "J01-none-more", false),
        ])
    func matches(pattern: String, text: String, expected: Bool) {
        #expect(Glob.matches(pattern, text) == expected)
    }

    @Test("Many stars take bounded time")
    func stars() {
        let pattern = String(repeating: "*a", count: 200) + "b"
        #expect(!Glob.matches(pattern, String(repeating: "a", count: 2_000)))
    }

    @Test("Cases are selected and skipped by ids and patterns")
    func selection() {
        let only = CaseCatalogue.cases(only: ["J01-*"])
        #expect(!only.isEmpty && only.allSatisfy { $0.info.id.hasPrefix("J01-") })
        #expect(CaseCatalogue.cases(only: ["J01-*"], skip: ["J01-*"]).isEmpty)
        #expect(CaseCatalogue.named("J01-none-lowercase") != nil && CaseCatalogue.named("J01-*") == nil)
        #expect(Set(CaseCatalogue.all.map(\.info.family)) == ["J", "S", "R", "O", "W", "P", "H"])
    }
}
