import Testing

@testable import gatehouse

@Suite("The command line's words")
struct CommandArgumentsTests {
    private let keyID = "-h" + String(repeating: "A", count: 39) + "_w"

    @Test("A kid that begins like an option goes where nothing is one")
    func movesKeyID() {
        let moved = ["keys", "retire", "--keys", "dir", "--", keyID]
        #expect(CommandArguments.settled(["keys", "retire", keyID]) == ["keys", "retire", "--", keyID])
        #expect(CommandArguments.settled(["keys", "retire", keyID, "--keys", "dir"]) == moved)
        #expect(CommandArguments.settled(["keys", "retire", "--keys", "dir", keyID]) == moved)
        let joined = ["keys", "retire", "--keys=dir", "--", keyID]
        #expect(CommandArguments.settled(["keys", "retire", "--keys=dir", keyID]) == joined)
    }

    @Test("Everything else stays as it was")
    func leavesTheRest() {
        let others: [[String]] = [
            [], ["keys"], ["keys", "retire"], ["keys", "retire", "-h"], ["keys", "retire", "--help"],
            ["keys", "retire", "--", keyID], ["keys", "retire", "--keys", keyID], ["keys", "list", keyID],
            ["keys", "retire", keyID + "A"], ["keys", "retire", "-." + String(keyID.dropFirst(2))],
            ["keys", "retire", String(repeating: "A", count: 43)],
        ]
        for arguments in others { #expect(CommandArguments.settled(arguments) == arguments) }
    }

    @Test(
        "Of a secret argument `ps` shows at most the name of its option",
        arguments: [
            ("postgres://u:hunter2@db/x", "--state", "postgres://"),
            ("--state=postgres://u:pw@db/x", "", "--state=postgres://"),
            ("postgres://db/x?sslpassword=hunter2", "", "postgres://"), ("eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "verify", ""),
            ("sec_AAAAAAAAAAAAAAAA", "", ""), ("--claim=x=ref_AAAAAAAAAAAAAAAA", "", "--claim="),
            ("https://h.example/jwks?sig=hunter2", "--jwks", "https://"),
            ("--jwks=HTTP://u:hunter2@h.example/jwks", "", "--jwks=HTTP://"),
            ("hunter2", "--token", ""), ("--token=hunter2", "", "--token="), ("pat_AAAAAAAAAAAAAAAA", "", ""),
        ])
    func hides(argument: String, previous: String, shown: String) {
        #expect(CommandArguments.shownCount(of: argument, after: previous) == shown.utf8.count)
    }

    @Test(
        "An error names a secret argument by its place or beginning, and others as they are",
        arguments: [
            (
                "Unexpected argument 'hunter2'", ["users", "password", "a@b.example", "hunter2"],
                "Unexpected argument number 4"
            ),
            ("Unexpected argument 'frobnicate'", ["frobnicate"], "Unexpected argument 'frobnicate'"),
            (
                "2 unexpected arguments: 'one1', 'two2'", ["keys", "list", "one1", "two2"],
                "2 unexpected arguments: number 3, number 4"
            ),
            (
                "no session 'ses_AAAAAAAAAAAAAAAAAAAAAA'", ["sessions", "end", "ses_AAAAAAAAAAAAAAAAAAAAAA"],
                "no session 'ses_AAAA…'"
            ),
            ("hunter2 is refused", ["attack", "https://h", "--token", "hunter2"], "… is refused"),
            ("no file keys.pem", ["token", "verify", "--key", "keys.pem"], "no file keys.pem"),
        ])
    func quotes(text: String, arguments: [String], shown: String) {
        #expect(CommandArguments.withoutSecrets(text, arguments: arguments) == shown)
    }

    @Test(
        "Other arguments are shown",
        arguments: [
            ("serve", ""), ("--config=/etc/gatehouse/gatehouse.yaml", ""), ("sqlite:var/state.sqlite", "--state"),
            ("postgres://gatehouse@db/x?sslmode=verify-full", "--state"), ("-", "--token"), ("token", ""),
            ("ada@example.com", "add"), ("https://app.example/cb", "--redirect-uri"),
        ])
    func shows(argument: String, previous: String) {
        #expect(CommandArguments.shownCount(of: argument, after: previous) == nil)
    }
}
