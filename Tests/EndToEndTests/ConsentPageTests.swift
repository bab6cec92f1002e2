import Testing

/// The consent page in a real browser.
@Suite(.heavy("a browser takes all cores while it draws")) struct ConsentPageTests {
    @Test("An application leads over the sign-in to the question, which is readable for all and decided by keys")
    func consent() async throws {
        let gateway = try await GatewayInProcess.start(
            Agent.configuration("http://127.0.0.1:1", resource: ", offline: true"))
        defer { gateway.stop() }
        let result = try PageTests.run([
            "python3", "Tests/BrowserTests/consent_test.py", gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        // 77: this machine has no browser, which `make test` installs.
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }
}
