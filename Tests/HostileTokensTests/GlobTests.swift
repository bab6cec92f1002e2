import Testing

@testable import HostileTokens

@Suite("Patterns of ids")
struct GlobTests {
    @Test(
        "A star matches any text, a question mark one byte, brackets one of several",
        arguments: [
            ("J01-*", "J01-none", true), ("J01-*", "J02-none", false), ("*", "", true), ("", "", true),
            ("", "a", false),
            ("J0?-none", "J01-none", true), ("J0?-none", "J0-none", false), ("*-x", "a-x-x", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false), ("J01-none", "J01-none-more", false),
            ("J0[1-3]-*", "J02-none", true), ("J0[1-3]-*", "J04-none", false), ("J0[24]-*", "J04-none", true),
            ("J0[!1-3]-*", "J04-none", true), ("J0[^1-3]-*", "J02-none", false), ("*[12]*3", "a1-23", true),
            ("[]]", "]", true), ("[a-]", "-", true), ("[3-1]", "2", false), ("[", "[", true), ("a[b", "a[b", true),
            ("[!", "[!", true), ("[]", "[]", true), ("J[0-9]", "J", false),
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
