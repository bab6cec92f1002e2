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
            promises: [sessions, ownership, protocol-sessions]
            canary: {upstream_route: /canary, listen: 127.0.0.1:9999}
            oauth: {resource: /agents, scopes: [read, write], client_id: c, redirect_uri: 'https://c.example/cb'}
            """)
        #expect(
            profile.oauth
                == OAuthSettings(
                    resource: "/agents", scopes: ["read", "write"], clientID: "c",
                    redirectURI: "https://c.example/cb"))
        #expect(profile.carrier == .cookie && profile.carrierName == "gate" && profile.path == "/protected")
        #expect(profile.users.map(\.email) == ["a@example.com", "b@example.com"])
        #expect(profile.users.map(\.tenant) == ["t", nil])
        #expect(profile.successStatuses == [200, 204])
        #expect(
            profile.socket?.carriers == [.socketQuery, .socketProtocol]
                && profile.socket?.session == Target.SocketSession.none)
        #expect(profile.promises == [.sessions, .ownership, .protocolSessions])
        #expect(profile.canary == .init(route: "/canary", host: "127.0.0.1", port: 9_999))
    }

    @Test("The three carriers of a good token from elsewhere", arguments: ["command: cat token", "file: token"])
    func sources(line: String) throws {
        let profile = try Self.parse("token: {carrier: query, name: jwt, \(line)}\n")
        #expect(profile.carrier == .query && profile.users.isEmpty)
        #expect(profile.source == (line.hasPrefix("file") ? .file("token") : .command("cat token")))
    }

    @Test("A token in Authorization has the scheme Bearer, unless another is given")
    func scheme() throws {
        let usual = try Self.parse("token: {carrier: header, name: authorization, file: token}\n")
        #expect(usual.carrierName == nil && usual.carrierPrefix == nil)
        let other = try Self.parse("token: {carrier: header, name: Authorization, prefix: 'JWT ', file: token}\n")
        #expect(other.carrierName == "Authorization" && other.carrierPrefix == "JWT ")
        #expect(try Self.parse("token: {carrier: cookie, name: Authorization, file: token}\n").carrierName != nil)
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
            ("socket: {path: /ws, carriers: [cookie]}\n", "socket.carriers: a cookie needs its name"),
            ("socket: {path: /ws, cookie: 'a b'}\n", "p.yaml:1:29: socket.cookie: expected a cookie's name"),
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
            ("canary: {upstream_route: /c, listen: '127.0.0.1:0'}\n", "canary.listen: expected ADDRESS:PORT"),
            ("oauth: {}\n", "oauth: 'resource' is missing"), ("oauth: /a\n", "oauth: expected a mapping"),
            ("oauth: {resource: a}\n", "oauth.resource: expected a path"),
            ("oauth: {resource: /a, scopes: read}\n", "oauth.scopes: expected a list"),
            ("oauth: {resource: /a, scopes: ['a b']}\n", "oauth.scopes: expected scopes without spaces"),
            ("oauth: {resource: /a, client_id: c}\n", "'client_id' and 'redirect_uri' belong together"),
            (
                "oauth: {resource: /a, client_id: c, redirect_uri: /cb}\n",
                "oauth.redirect_uri: expected an absolute URI"
            ),
            (
                "oauth: {resource: /a, client_id: c, redirect_uri: 'https://c/#x'}\n",
                "oauth.redirect_uri: expected an absolute URI"
            ),
            (
                "oauth:\n  resource: /a\n  scope: read\n",
                "p.yaml:3:3: oauth: 'scope' is no key here: did you mean 'scopes'?"
            ),
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

    private static let whole = """
        token:
          carrier: header
          name: X-Token
          prefix: 'Bearer '
          login:
            path: /login
            email: a@example.com
            password: secret
            tenant_id: t
        second_user:
          login:
            path: /login2
            email: b@example.com
            password: secret2
        path: /protected
        success:
          status: 200
        socket:
          path: /ws
          carriers: [query]
          session: none
        promises: [sessions]
        canary:
          upstream_route: /canary
          listen: 127.0.0.1:9999
        oauth:
          resource: /agents
          scopes: [read]
        """

    @Test(
        "A profile that is wrong in any line names that line",
        arguments: 0..<28)
    func anyLine(index: Int) throws {
        let lines = Self.whole.split(separator: "\n").map(String.init)
        _ = try Self.parse(Self.whole)
        let line = try #require(lines.indices.contains(index) ? lines[index] : nil)
        let indent = line.prefix { $0 == " " }
        let key = line.dropFirst(indent.count).prefix { $0 != ":" }
        // A key that does not exist, mappings where a value belongs, and a byte that few values may have.
        for wrong in ["\(indent)\(key)x: 1", "\(indent)\(key): [{a: b}]", "\(indent)\(key): \"a\\u0001 b\""] {
            var changed = lines
            changed[index] = wrong
            // What hung on the line goes with it.
            while changed.count > index + 1, changed[index + 1].prefix(while: { $0 == " " }).count > indent.count {
                changed.remove(at: index + 1)
            }
            do {
                _ = try Self.parse(changed.joined(separator: "\n"))
                // Names and secrets of users may be any text.
                #expect(
                    ["email", "password", "tenant_id"].contains(String(key)) && wrong.contains("u0001"), "\(wrong)")
            } catch {
                #expect("\(error)".hasPrefix("p.yaml:\(index + 1):"), "\(wrong): \(error)")
            }
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
        #expect(((try? Endpoint(host: host, port: 1, anywhere: false)) != nil) == isLoopback)
    }

    @Test(
        "Reports are named by their format",
        arguments: [("json=a.json", true), ("sarif=x=y", true), ("xml=a", false), ("json=", false), ("json", false)])
    func reports(text: String, isGood: Bool) {
        #expect((ReportFile(text) != nil) == isGood)
    }
}
