import HostileTokens
import Testing

@testable import gatehouse

@Suite("Profiles of attacks")
struct AttackProfileTests {
    private static func parse(_ text: String) throws -> AttackProfile {
        try ProfileReader.parse(Array(text.utf8), file: "p.yaml")
    }

    @Test("Every key is read")
    func everything() throws {
        let profile = try Self.parse(
            """
            token:
              carrier: cookie
              name: gate
              login: {path: /login, email: a@example.com, password: secret, tenant_id: t}
            second_user:
              login: {path: /login, email: b@example.com, password: secret}
            path: /protected
            success: {status: [200, 204]}
            socket: {path: /ws, carriers: [query, subprotocol], session: none}
            promises: [sessions, ownership]
            canary: {upstream_route: /canary, listen: 127.0.0.1:9999}
            """)
        #expect(profile.carrier == .cookie && profile.carrierName == "gate" && profile.path == "/protected")
        #expect(profile.users.map(\.email) == ["a@example.com", "b@example.com"])
        #expect(profile.users.map(\.tenant) == ["t", nil])
        #expect(profile.successStatuses == [200, 204])
        #expect(
            profile.socket?.carriers == [.socketQuery, .socketProtocol]
                && profile.socket?.session == Target.SocketSession.none)
        #expect(profile.promises == [.sessions, .ownership])
        #expect(profile.canary == .init(route: "/canary", host: "127.0.0.1", port: 9_999))
    }

    @Test("The three carriers of a good token from elsewhere", arguments: ["command: cat token", "file: token"])
    func sources(line: String) throws {
        let profile = try Self.parse("token: {carrier: query, name: jwt, \(line)}\n")
        #expect(profile.carrier == .query && profile.users.isEmpty)
        #expect(profile.source == (line.hasPrefix("file") ? .file("token") : .command("cat token")))
    }

    @Test(
        "What is wrong is told with its line",
        arguments: [
            ("token:\n  carrier: hedder\n", "p.yaml:2:12: token.carrier: expected header"),
            ("path: /x\ntokn: {}\n", "p.yaml:2:1: 'tokn' is no key here: did you mean 'token'?"),
            ("token:\n  header: x\n", "p.yaml:2:3: token: 'header' is no key here"),
            ("path: nope\n", "p.yaml:1:7: path: expected a path"),
            ("path: /a b\n", "p.yaml:1:7: path: expected a path"),
            ("socket: {carriers: [query]}\n", "p.yaml:1:9: socket: 'path' is missing"),
            ("socket: {path: /ws, carriers: []}\n", "socket.carriers: expected a list"),
            ("socket: {path: /ws, session: carrier}\n", "socket.session: expected query, header or none"),
            ("promises: [everything]\n", "promises: expected some of sessions"),
            ("promises: sessions\n", "promises: expected a list"),
            ("token:\n  login: {path: /l, email: a@b}\n", "p.yaml:2:10: token.login: 'password' is missing"),
            ("token: {command: a, file: b}\n", "token: more than one of"),
            ("token: {carrier: cookie}\n", "a cookie needs its 'name'"),
            ("token: {carrier: subprotocol}\n", "say 'socket', too"),
            ("token: {name: 'a b'}\n", "token.name: expected the name"),
            ("second_user: {login: {path: /l, email: a, password: b}}\n", "there is no first user"),
            ("success: {status: 999}\n", "success.status: expected a status"),
            ("success: {}\n", "'status' is missing"), ("canary: {}\n", "'upstream_route' is missing"),
            ("canary: {upstream_route: /c, listen: here}\n", "canary.listen: expected ADDRESS:PORT"),
            ("- a\n", "expected a mapping"), ("", "an empty profile"), ("path: [\n", "not YAML"),
            ("path: /a\npath: /b\n", "more than once"),
        ])
    func faults(text: String, sentence: String) {
        do {
            _ = try Self.parse(text)
            Issue.record("'\(text)' was taken")
        } catch {
            #expect("\(error)".contains(sentence), "\(error)")
        }
    }

    @Test("A password is never shown")
    func passwords() throws {
        let profile = try Self.parse("token: {login: {path: /l, email: a@example.com, password: hunter2}}\n")
        var text = ""
        dump(profile.users, to: &text)
        #expect(!(text + "\(profile.users)").contains("hunter2"))
    }

    @Test(
        "This machine is told by the address, not by the name",
        arguments: [
            ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("localhost", true),
            ("0.0.0.0", false), ("128.0.0.1", false), ("::2", false), ("::ffff:10.0.0.1", false), ("::", false),
            ("example.com", false), ("127.0.0.1.example.com", false), ("0x7f.1", false), ("2130706433", false),
            ("localhost.example.com", false),
        ])
    func loopback(host: String, isLoopback: Bool) {
        #expect(Loopback.contains(host) == isLoopback)
        #expect(((try? Endpoint(host: host, port: 1, anywhere: false)) != nil) == isLoopback)
    }

    @Test(
        "Reports are named by their format",
        arguments: [("json=a.json", true), ("sarif=x=y", true), ("xml=a", false), ("json=", false), ("json", false)])
    func reports(text: String, isGood: Bool) {
        #expect((ReportFile(text) != nil) == isGood)
    }
}
