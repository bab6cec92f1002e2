import Testing

@testable import gatehouse

@Suite("Nearest key")
struct NearestKeyTests {
    @Test(
        "Edits are counted, and a swap is one",
        arguments: [("", "", 0), ("a", "", 1), ("listen", "lisen", 1), ("clock", "colck", 1), ("kitten", "sitting", 3)])
    func countsEdits(a: String, b: String, edits: Int) {
        #expect(NearestKey.distance(a, b) == edits)
        #expect(NearestKey.distance(b, a) == edits)
    }

    @Test("The key with the fewest edits is named")
    func namesTheNearest() {
        #expect(NearestKey.nearest(to: "clok_skew", among: ["audience", "clock_skew", "issuer"]) == "clock_skew")
        #expect(NearestKey.nearest(to: "x", among: []) == nil)
    }

    @Test("A key of any length is compared in bounded time")
    func isBounded() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(NearestKey.distance(long, "listen") == 128)
    }
}
