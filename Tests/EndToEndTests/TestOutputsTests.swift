import Testing

/// What of the tests' commands is searched for credentials.
@Suite struct TestOutputsTests {
    @Test(
        "The results of commands are kept, except for those that are a secret on purpose",
        arguments: [
            ("token issue --subject usr_x", true), ("admin token", true), ("clients add ci --json", true),
            ("sessions list", true), ("attack http://127.0.0.1:1 --json", true), ("token inspect --json", false),
            ("token verify", false), ("clients list", false), ("sessions end ses_x", false), ("config show", false),
            ("token", false), ("serve", false),
        ])
    func secrets(command: String, isSecret: Bool) {
        let words = command.split(separator: " ").map { String($0) }
        #expect(TestOutputs.isSecret(resultOf: words) == isSecret)
    }
}
