import AuthorizationServer
import BasicsForTests
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing

@Suite("Allowing a client access: the answered question, the client, the grant and its code, together or not at all")
struct AgentCodeTests {
    private static let clientID = "https://agent.example/client.json"
    private static let redirectURI = "https://agent.example/cb"
    private static let resource = "https://gate.example/mcp"
    private static let document = """
        {"client_id":"\(clientID)","client_name":"Agent","redirect_uris":["\(redirectURI)"]}
        """

    let fixture: Fixture
    let agents: AgentAccess
    /// The session that is asked, and its owner.
    let signedIn: SignedIn

    init() async throws {
        let fixture = try await Fixture()
        let issuer = "https://gate.example"
        let resource = ProtectedResource(
            identifier: Self.resource, path: "/mcp", name: "Tools", scopes: ["read"], authorizationServers: [issuer])
        let audited = fixture.audited
        agents = AgentAccess(
            settings: AgentSettings(issuer: issuer, resources: [resource]), securityGuard: fixture.securityGuard,
            store: fixture.store,
            fetch: { _ in
                FetchedDocument(
                    status: 200, contentType: "application/json", cacheControl: nil, body: Array(Self.document.utf8))
            }, clock: fixture.clock.read, audit: { audited.append($0.name.rawValue) })
        signedIn = try await fixture.signIn(fixture.account())
        self.fixture = fixture
    }

    private var session: SessionSnapshot { signedIn.session.session }

    /// What follows from a request of the client.
    private func authorize() async throws -> AuthorizationStep {
        let client = try await agents.client(id: Self.clientID, address: Fixture.address)
        let asked = ConsentRequest(
            sessionID: "", sessionEpoch: 0, userID: "", clientID: Self.clientID, redirectURI: Self.redirectURI,
            resource: Self.resource, scopes: ["read"], state: "s", challenge: String(repeating: "A", count: 43))
        let parameters = try AuthorizationParameters(query: asked.query)
        let request = try parameters.judge(
            client: client, redirectURI: try parameters.redirectURI(of: client), resources: agents.settings.grantable)
        return try await agents.authorize(request, client: client, session: session)
    }

    /// The decision on a question that is asked now.
    private func decision(_ word: String = "allow") async throws -> ConsentDecision {
        guard case .ask(let question) = try await authorize() else { throw AgentAccessFault(.notFound, "not asked") }
        return try #require(ConsentDecision(requestID: question.requestID, decision: word, offline: nil))
    }

    private func decide(_ decision: ConsentDecision) async throws -> String {
        try await agents.decide(decision, session: session, address: Fixture.address)
    }

    /// The families that were granted to the client.
    private func granted() async throws -> [FamilyRecord] {
        try await fixture.store.liveFamilies(userID: signedIn.userID).filter { $0.resource != nil }
    }

    private func expectNothing() async throws {
        #expect(try await granted().isEmpty)
        #expect(try await fixture.store.client(id: Self.clientID) == nil)
        #expect(try await fixture.store.consents(userID: signedIn.userID).isEmpty)
    }

    /// The stored code of a redirect.
    private func code(in location: String) async throws -> AuthorizationCode? {
        let text = location.split { "?&".contains($0) }.first { $0.hasPrefix("code=") }?.dropFirst(5)
        let hash = try #require(text.flatMap { AuthorizationCode.hash(String($0)) })
        let record = try await fixture.store.singleUse(
            kind: AuthorizationCode.kind, hash: hash, now: fixture.clock.read())
        return record.flatMap { AuthorizationCode(stored: $0.payload) }
    }

    @Test("What is allowed is written in one transaction, and so is what follows from the remembered consent")
    func allowed() async throws {
        let decision = try await decision()
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        let location = try await decide(decision)
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
        let family = try #require(try await granted().first)
        #expect(try await code(in: location)?.familyID == family.id)
        #expect(try await fixture.store.client(id: Self.clientID)?.name == "Agent")
        #expect(try await fixture.store.consents(userID: signedIn.userID).map(\.clientID) == [Self.clientID])
        guard case .redirect(let next) = try await authorize() else {
            Issue.record("the consent is not relied on")
            return
        }
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 2)
        #expect(try await code(in: next) != nil)
        #expect(try await granted().count == 2)
    }

    @Test("Cut off before its commit it leaves nothing, and the question can still be answered")
    func cutOff() async throws {
        let decision = try await decision()
        fixture.audited.removeAll()
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await decide(decision) }
        try await expectNothing()
        #expect(fixture.audited.all.isEmpty)
        let location = try await decide(decision)
        #expect(try await code(in: location) != nil)
        #expect(try await granted().count == 1)
    }

    @Test("Of many answers to one question one counts, and leaves one family")
    func once() async throws {
        let decision = try await decision()
        let counted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try await decide(decision)
                        return true
                    } catch let fault as AgentAccessFault where fault.code == .consentUnknown {
                        return false
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(counted == 1)
        #expect(try await granted().count == 1)
    }

    @Test("A refusal answers the question, too, and leaves nothing else", arguments: ["deny", "allow"])
    func refused(word: String) async throws {
        let decision = try await decision(word)
        // What was judged has changed: the session is over.
        if word == "allow" { try await fixture.signIn.end(session, proof: signedIn.proof) }
        #expect(try await decide(decision).contains("error=access_denied"))
        try await expectNothing()
        await #expect(throws: AgentAccessFault(.consentUnknown, "")) { try await decide(decision) }
    }
}
