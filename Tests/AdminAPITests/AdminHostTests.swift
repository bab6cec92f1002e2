import Testing

@testable import AdminAPI

/// What a listener on loopback answers for.
@Suite struct AdminHostTests {
    @Test(
        "The machine's own names and addresses are answered for, and no other name",
        arguments: [
            (nil, false), ("", false), ("localhost", false), ("localhost:9180", false), ("LocalHost.", false),
            ("gate.localhost:9180", false), ("127.0.0.1:9180", false), ("[::1]:9180", false), ("10.0.0.5", false),
            ("ops.internal:9180", false), ("evil.example", true), ("evil.example:9180", true),
            ("localhost.evil.example", true), ("notlocalhost", true), ("127.0.0.1.evil.example:9180", true),
            ("evil.example.", true), (".", true), (":9180", true),
        ] as [(String?, Bool)])
    func isForeign(host: String?, expected: Bool) {
        #expect(AdminHost.isForeign(host, own: "ops.internal") == expected)
    }
}
