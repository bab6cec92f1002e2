import Answers
import EdgeConfiguration
import Foundation
import HTTPWire
import NIOCore
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import TrafficCop

@testable import Gate

/// A gate over real modules and a store of its own, without a socket, and one credential of each kind and state.
final class GateFixture {
    static let origin = "https://app.example"

    let memory: GateMemory
    let runtime: Runtime
    let guarding: SecurityGuard
    let credentials: Credentials
    let trafficCop: TrafficCop
    let state: any StateSurface
    private let folder: String

    /// Everything that requests are put together from.
    struct Credentials {
        /// Of the caller, of another user, revoked, and signed by a key that is not the gateway's.
        var token = ""
        var othersToken = ""
        var revokedToken = ""
        var forgedToken = ""
        /// Of the caller, of that other user, and ended.
        var session = ""
        var othersSession = ""
        var endedSession = ""
        var secret = ""
        var othersSecret = ""
        var endedSecret = ""
    }

    init() async throws {
        folder = NSTemporaryDirectory() + "gatehouse-gate-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let clock: @Sendable () -> Int64 = { 1_800_000_000_000 }
        state = try await StateSurfaceFactory.open(url: "sqlite:\(folder)/state.sqlite", clock: clock)
        trafficCop = TrafficCop(limits: RateLimits(enabled: false), clock: clock)
        runtime = Runtime(state: state, trafficCop: trafficCop, policy: SessionPolicy(), clock: clock)
        guarding = try await Self.makeGuard(folder + "/keys", state, clock)
        let stranger = try await Self.makeGuard(folder + "/other-keys", state, clock)
        memory = GateMemory(
            tokens: VerifiedTokenCache(guarding), runtime: runtime, securityGuard: guarding,
            origins: OriginPolicy(configured: [Self.origin], issuer: "https://gate.example", loopbackPort: nil),
            now: clock)

        let signIn = SignInService(securityGuard: guarding, runtime: runtime, trafficCop: trafficCop, store: state)
        let elsewhere = SignInService(securityGuard: stranger, runtime: runtime, trafficCop: trafficCop, store: state)
        let caller = try await Self.account("ada@example.com", guarding)
        let other = try await Self.account("bob@example.com", guarding)
        let mine = try await Self.signIn(caller, signIn)
        let others = try await Self.signIn(other, signIn)
        let ended = try await Self.signIn(caller, signIn)
        try await signIn.end(ended.session.session, proof: .secret(hash: ended.session.secret.hash))
        var made = Credentials()
        (made.token, made.session, made.secret) = Self.texts(of: mine)
        (made.othersToken, made.othersSession, made.othersSecret) = Self.texts(of: others)
        (made.revokedToken, made.endedSession, made.endedSecret) = Self.texts(of: ended)
        made.forgedToken = try await Self.signIn(caller, elsewhere).tokens.accessToken
        credentials = made
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func makeGuard(
        _ keys: String, _ state: any StateSurface, _ clock: @escaping @Sendable () -> Int64
    ) async throws -> SecurityGuard {
        let policy = TokenPolicy(
            issuer: "https://gate.example", defaultScope: ["read"], scrypt: ScryptParameters(logN: 4, r: 8, p: 1))
        return try await SecurityGuard(
            policy: policy, keyDirectory: KeyDirectory(path: keys, policy: policy, clock: clock), state: state,
            clock: clock)
    }

    private static func account(_ email: String, _ guarding: SecurityGuard) async throws -> ProvedAccount {
        let account = try await guarding.accounts.add(email: email, password: "a long password", tenantID: "acme")
        return ProvedAccount(account, by: .password)
    }

    private static func signIn(_ account: ProvedAccount, _ service: SignInService) async throws -> SignedIn {
        try await service.signIn(account, target: nil, clientAddress: "192.0.2.1")
    }

    private static func texts(of signedIn: SignedIn) -> (String, String, String) {
        (signedIn.tokens.accessToken, signedIn.session.session.id, signedIn.session.secret.text)
    }

    /// A ticket of the caller's session, for the origin named.
    func ticket(origin: String? = nil) async throws -> String {
        let principal = try guarding.judge(token: credentials.token.utf8).get()
        let permit = try await runtime.admit(
            sessionID: credentials.session, tenantID: principal.tenantID, userID: principal.subject
        ).get()
        let ticket = try await runtime.mintTicket(
            for: permit, tokenFacts: guarding.facts(of: principal), origin: origin)
        guard let ticket else { throw FixtureFault.noTicket }
        return ticket
    }

    private enum FixtureFault: Error { case noTicket, badHead }

    /// A head with these fields.
    func head(_ fields: [(String, String)], method: String = "GET") throws -> RequestHead {
        var text = "\(method) /orders HTTP/1.1\r\nHost: gate.example\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        var buffer = ByteBuffer(string: text + "\r\n")
        guard case .head(let head) = RequestHead.parse(&buffer) else { throw FixtureFault.badHead }
        return head
    }

    /// The verdict on a request, the store's answer included: "ok", or the code of the refusal.
    func verdict(_ request: Carried, _ way: GateRequest.Way, _ terms: AccessTerms) async throws -> String {
        do {
            return try await admission(request, way, terms) == nil ? "nothing" : "ok"
        } catch let problem as Problem {
            return problem.code.rawValue
        }
    }

    func admission(_ request: Carried, _ way: GateRequest.Way, _ terms: AccessTerms) async throws -> Admission? {
        let gate = Gate(memory)
        let asked = try asked(request, way)
        switch try gate.judge(asked, terms) {
        case .admitted(let admission): return admission
        case .askStore(let question):
            return try gate.confirm(await question.answer(), opensSocket: asked.opensSocket)
        }
    }

    /// What is admitted on the shorter way, by memory alone; nil where the whole order has to be gone through.
    func known(_ request: Carried, _ way: GateRequest.Way, _ terms: AccessTerms) throws -> Admission? {
        let asked = try asked(request, way)
        let offers = asked.opensSocket ? try Subprotocols.read(asked.head) : Subprotocols()
        return Gate(memory).admitKnown(asked, offers, terms)
    }

    private func asked(_ request: Carried, _ way: GateRequest.Way) throws -> GateRequest {
        GateRequest(
            head: try head(request.fields, method: request.method),
            query: request.query.isEmpty ? nil : Array(request.query.joined(separator: "&").utf8), way: way,
            cookies: .secure, receivedAt: memory.now())
    }
}

/// What a request carries.
struct Carried {
    var method = "GET"
    var fields: [(String, String)] = []
    var query: [String] = []

    static func + (left: Carried, right: Carried) -> Carried {
        Carried(method: left.method, fields: left.fields + right.fields, query: left.query + right.query)
    }

    static func field(_ name: String, _ value: String) -> Carried { Carried(fields: [(name, value)]) }
    static func cookie(_ value: String) -> Carried { .field("Cookie", "__Host-gatehouse=\(value)") }
    static func query(_ name: String, _ value: String) -> Carried { Carried(query: ["\(name)=\(value)"]) }
    static func bearer(_ token: String) -> Carried { .field("Authorization", "Bearer \(token)") }
    static let nothing = Carried()
}

/// One state of one credential, and how it is sent.
enum CredentialState: String, CaseIterable {
    case absent, valid, foreign, dead, forged, swapped, twice, misplaced
}

extension GateFixture {
    func token(_ state: CredentialState, _ way: GateRequest.Way) -> Carried {
        switch state {
        case .absent: .nothing
        case .valid: .bearer(credentials.token)
        case .foreign: .bearer(credentials.othersToken)
        case .dead: .bearer(credentials.revokedToken)
        case .forged: .bearer(credentials.forgedToken)
        case .swapped: .bearer(credentials.session)
        case .twice: .bearer(credentials.token) + .bearer(credentials.token)
        // In a URL that is logged; as a ticket, where the URL is a carrier.
        case .misplaced: .query(way == .fields ? "access_token" : "ticket", credentials.token)
        }
    }

    func session(_ state: CredentialState, _ way: GateRequest.Way) -> Carried {
        switch state {
        case .absent: .nothing
        case .valid: .field("Session-Id", credentials.session)
        case .foreign: .field("Session-Id", credentials.othersSession)
        case .dead: .field("Session-Id", credentials.endedSession)
        case .forged: .field("Session-Id", "ses_AAAAAAAAAAAAAAAAAAAAAA")
        case .swapped: .field("Session-Id", credentials.secret)
        case .twice: .field("Session-Id", credentials.session) + .field("Session-Id", credentials.session)
        // A query is no carrier outside a handshake, a cookie none in it.
        case .misplaced: way == .fields ? .query("session_id", credentials.session) : .cookie(credentials.secret)
        }
    }

    func secret(_ state: CredentialState) -> Carried {
        switch state {
        case .absent: .nothing
        case .valid: .field("Session-Secret", credentials.secret)
        case .foreign: .field("Session-Secret", credentials.othersSecret)
        case .dead: .field("Session-Secret", credentials.endedSecret)
        case .forged: .field("Session-Secret", "sec_" + String(repeating: "A", count: 43))
        case .swapped: .field("Session-Secret", credentials.session)
        case .twice: .field("Session-Secret", credentials.secret) + .field("Session-Secret", credentials.secret)
        case .misplaced: .query("session_secret", credentials.secret)
        }
    }

    func cookie(_ state: CredentialState) -> Carried {
        switch state {
        case .absent: .nothing
        case .valid: .cookie(credentials.secret)
        case .foreign: .cookie(credentials.othersSecret)
        case .dead: .cookie(credentials.endedSecret)
        case .forged: .cookie("sec_" + String(repeating: "A", count: 43))
        case .swapped: .cookie(credentials.session)
        case .twice: .cookie(credentials.secret) + .cookie(credentials.secret)
        // The name that is read over plain http on loopback alone.
        case .misplaced: .field("Cookie", "gatehouse=\(credentials.secret)")
        }
    }
}
