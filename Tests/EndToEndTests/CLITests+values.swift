import Foundation
import Testing

/// Values that no account, client or token can have.
extension CLITests {
    @Test("A name of a wrong form is wrong usage, and makes no store")
    func wrongNames() throws {
        let place = try GatewayProcess.makeDirectory()
        let store = place.appendingPathComponent("new.sqlite")
        for arguments in [
            ["users", "add", "notanemail", "--password-stdin"],
            ["users", "add", "a@b.example", "--tenant", "bad tenant", "--password-stdin"],
            ["users", "add", "a@b.example", "--scope", "a b", "--password-stdin"],
            ["users", "add", "a@b.example", "--group", String(repeating: "g", count: 129), "--password-stdin"],
            ["users", "add", "a@b.example", "--name", "a\u{7}b", "--password-stdin"],
            ["users", "set", "a@b.example", "--name", "a\u{7}b"],
            ["users", "set", "a@b.example", "--group", String(repeating: "g", count: 129)],
            ["clients", "add", "name", "--tenant", "bad tenant"],
            ["clients", "add", "name", "--scope", "a b"],
            ["clients", "add", ""],
            ["clients", "add", String(repeating: "n", count: 300)],
        ] {
            let result = try GatewayProcess.run(
                arguments + ["--state", "sqlite:\(store.path)"], in: place, input: "a password\n", stateful: false)
            Self.expectFailure(result, 2)
            #expect(!FileManager.default.fileExists(atPath: store.path), "\(arguments)")
        }
    }

    @Test("A value of a wrong form is wrong usage, of every command, before it looks for a store or a key")
    func wrongValues() throws {
        let place = try GatewayProcess.makeDirectory()
        let user = "usr_AAAAAAAAAAAAAAAAAAAAAA"
        let issue = ["token", "issue", "--subject", user]
        let wrong: [(arguments: [String], words: String)] = [
            (["users", "list", "--tenant", "bad tenant"], "a tenant"),
            (["users", "set", "a@b.example", "--tenant", "bad tenant", "--name", "x"], "a tenant"),
            (["users", "disable", "a@b.example", "--tenant", "bad tenant"], "a tenant"),
            (["users", "enable", "a@b.example", "--tenant", ""], "a tenant"),
            (["users", "password", "a@b.example", "--tenant", "a/b", "--password-stdin"], "a tenant"),
            (["users", "passkeys", "list", "a@b.example", "--tenant", "bad tenant"], "a tenant"),
            (["users", "passkeys", "remove", "a@b.example", "id", "--tenant", "bad tenant"], "a tenant"),
            (["users", "disable", ""], "user id"), (["users", "disable", "ada"], "user id"),
            (["users", "passkeys", "remove", "a@b.example", ""], "passkey"),
            (["clients", "disable", ""], "client's id"), (["clients", "disable", "a b"], "client's id"),
            (["sessions", "list", "--user", "notauser"], "--user"), (["sessions", "list", "--user", ""], "--user"),
            (["sessions", "end", "ses_AAAAAAAAAAAAAAAAAAAAAA", ""], "session id"), (["keys", "retire", ""], "kid"),
            (["audit", "why", "", "log"], "request"), (["audit", "why", "req_x", ""], "path"),
            (["audit", "verify", ""], "path"), (["state", "backup", ""], "path"), (["state", "restore", ""], "path"),
            (["token", "issue", "--subject", ""], "--subject"),
            (issue + ["--tenant", "a b"], "a tenant"), (issue + ["--tenant", "a/b"], "a tenant"),
            (issue + ["--scope", "a b"], "scopes"), (issue + ["--scope", ""], "scopes"),
            (issue + ["--issuer", ""], "--issuer"), (issue + ["--audience", ""], "--audience"),
            (issue + ["--claim", "a"], "NAME=VALUE"), (issue + ["--claim", "=1"], "NAME=VALUE"),
        ]
        for (arguments, words) in wrong {
            let result = try GatewayProcess.run(arguments, in: place, input: "a password\n", stateful: false)
            Self.expectFailure(result, 2, words)
        }
        // What could be one is looked up.
        for arguments in [
            ["users", "list", "--tenant", "acme"], ["users", "disable", user], ["sessions", "list", "--user", user],
            ["sessions", "list", "--user", "cli_x"], ["clients", "disable", "https://app.example/client.json"],
        ] {
            Self.expectFailure(try GatewayProcess.run(arguments, in: place, stateful: false), 1, "no store")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
    }
}
