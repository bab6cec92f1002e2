import Answers
import Testing

@testable import AdminAPI
@testable import SecurityGuard

/// Who may use the operator's API.
@Suite struct AdminRightsTests {
    private static let own = "http://127.0.0.1:9180"
    private let rights = AdminRights(user: 998, origins: [own, "http://localhost:9180"])

    private func request(_ peer: AdminPeer = .network("127.0.0.1")) -> AdminRequest {
        AdminRequest(id: "req_1", method: "GET", path: "/api/admin/overview", peer: peer)
    }

    private static func principal(scope: [String]) -> Principal {
        Principal(
            tenantID: "acme", subject: "usr_ada", clientID: "gatehouse", scope: scope, tokenID: "t", familyID: nil,
            issuedAt: 0, expiresAt: 1, keyThumbprint: "k")
    }

    private func judge(
        _ request: AdminRequest, scope: [String] = ["gatehouse:admin"], rights: AdminRights? = nil
    ) -> Result<AdminCaller, Problem> {
        do throws(Problem) {
            return .success(
                try (rights ?? self.rights).caller(of: request) { token in
                    token == "good" ? .success(Self.principal(scope: scope)) : .failure(.expired)
                })
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<AdminCaller, Problem>) -> ProblemCode? {
        if case .failure(let problem) = result { problem.code } else { nil }
    }

    @Test(
        "A token with the scope is let in, and no other",
        arguments: [
            (["gatehouse:admin"], true), (["a", "gatehouse:admin", "b"], true), ([], false), (["gatehouse"], false),
            (["gatehouse:Admin"], false), (["gatehouse:admin2"], false), (["admin"], false),
        ])
    func scopes(_ scope: [String], isTaken: Bool) {
        var asked = request()
        asked.authorization = .bearer(Array("good".utf8))
        let result = judge(asked, scope: scope)
        #expect((try? result.get()) == (isTaken ? .subject("usr_ada") : nil))
        if !isTaken { #expect(code(result) == .insufficientScope) }
    }

    @Test("Over the network, a caller without a token, with another scheme or with a bad token is refused")
    func tokens() {
        #expect(code(judge(request())) == .credentialsMissing)
        var asked = request()
        asked.authorization = .other
        #expect(code(judge(asked)) == .credentialsMissing)
        asked.authorization = .bearer(Array("bad".utf8))
        #expect(code(judge(asked)) == .tokenExpired)
        #expect(code(judge(request(.unknown))) == .credentialsMissing)
    }

    @Test("Credentials that can't be read are told to be so, not to be missing, from any caller")
    func unreadable() {
        for peer in [AdminPeer.network("127.0.0.1"), .process(user: 0)] {
            var asked = request(peer)
            asked.credentialsFault = Problem(.invalidRequest, reason: "sent_twice")
            #expect(code(judge(asked)) == .invalidRequest)
        }
    }

    @Test(
        "On a Unix socket the gateway's own user and root need no token, others do",
        arguments: [
            (UInt32(998), true), (0, true), (999, false), (1000, false), (.max, false),
        ])
    func processes(user: UInt32, isTaken: Bool) {
        let result = judge(request(.process(user: user)))
        #expect((try? result.get()) == (isTaken ? .user(user) : nil))
        if !isTaken { #expect(code(result) == .credentialsMissing) }
    }

    @Test(
        "A page of another origin is refused, whatever it holds",
        arguments: [
            "http://evil.example", "null", "", "http://127.0.0.1:9181", "https://127.0.0.1:9180",
            "http://127.0.0.1:9180.evil.example", "HTTP://127.0.0.1:9180", "http://evil.example:9180",
        ])
    func origins(origin: String) {
        for peer in [AdminPeer.network("127.0.0.1"), .process(user: 0)] {
            var asked = request(peer)
            asked.authorization = .bearer(Array("good".utf8))
            asked.origin = origin
            // A name that was made to lead here names itself in both fields.
            asked.host = origin.replacing("http://", with: "")
            #expect(code(judge(asked)) == .originRefused)
        }
    }

    @Test("Its own page is let in", arguments: ["http://127.0.0.1:9180", "http://localhost:9180"])
    func ownPage(origin: String) {
        var asked = request()
        asked.authorization = .bearer(Array("good".utf8))
        asked.origin = origin
        asked.fetchSite = "same-origin"
        #expect((try? judge(asked).get()) == .subject("usr_ada"))
    }

    @Test(
        "What the browser says to come from another site is refused also without an origin",
        arguments: [
            "cross-site", "same-site", "", "other",
        ])
    func sites(site: String) {
        var asked = request()
        asked.authorization = .bearer(Array("good".utf8))
        asked.fetchSite = site
        #expect(code(judge(asked)) == .originRefused)
    }

    @Test(
        "A listener on every address takes its own pages by literals, and by no name",
        arguments: [
            ("http://10.1.2.3:9180", "10.1.2.3:9180", true), ("http://[fd00::1]:9180", "[fd00::1]:9180", true),
            ("http://10.1.2.3:9180", "10.1.2.4:9180", false), ("http://gate.example:9180", "gate.example:9180", false),
            ("http://1.2.3.4.evil.example:9180", "1.2.3.4.evil.example:9180", false),
        ])
    func everywhere(origin: String, host: String, isTaken: Bool) {
        var asked = request()
        asked.authorization = .bearer(Array("good".utf8))
        asked.origin = origin
        asked.host = host
        let result = judge(asked, rights: AdminRights(user: 1, origins: [], takesLiterals: true))
        #expect(((try? result.get()) != nil) == isTaken)
    }
}

extension TokenFault {
    fileprivate static var expired: TokenFault { TokenFault(.tokenExpired, reason: "expired") }
}
