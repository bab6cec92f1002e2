import Answers
import BasicsForTests
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PasskeysForTests
import Runtime
import SecurityGuard
import SignIn
import Synchronization
import TrafficCop

@testable import EdgeConfiguration
@testable import GatewayAPI
@testable import StateSurface

/// The API over a store of its own, without the edge around it.
final class APIFixture: Sendable {
    static let password = "correct horse battery staple"

    let clock = TestClock()
    let state: any StateSurface
    let guarding: SecurityGuard
    let runtime: Runtime
    let responder: APIResponder
    let configuration: GatewayConfiguration
    private let folder: String

    /// - Parameter wrap: puts something between the database and the store above it.
    init(
        adjust: (inout GatewayConfiguration) -> Void = { _ in }, wrap: (any SQLEngine) -> any SQLEngine = { $0 }
    ) async throws {
        var configuration = GatewayConfiguration()
        configuration.limits.loginPerMinute = 100
        adjust(&configuration)
        self.configuration = configuration
        folder = NSTemporaryDirectory() + "gatehouse-api-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let read = clock.read
        let engine = wrap(try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite"))
        state = SQLSurface(engine: engine, clock: read)
        let policy = TokenPolicy(
            issuer: "https://gate.example", defaultScope: ["read"],
            loginTenant: configuration.accounts.defaultTenant, scrypt: ScryptParameters(logN: 4, r: 8, p: 1))
        guarding = try await SecurityGuard(
            policy: policy, keyDirectory: KeyDirectory(path: folder + "/keys", policy: policy, clock: read),
            state: state, clock: read, audit: { [audits] event in audits.events.withLock { $0.append(event) } })
        let trafficCop = TrafficCop(
            limits: RateLimits(
                anonymousPerMinute: configuration.limits.anonymousPerMinute,
                loginPerMinute: configuration.limits.loginPerMinute), clock: read)
        runtime = Runtime(
            state: state, trafficCop: trafficCop, policy: SessionPolicy(perUser: configuration.sessions.perUser),
            clock: read)
        let state = state
        let alive = Alive()
        let signIn = SignInService(securityGuard: guarding, runtime: runtime, trafficCop: trafficCop, store: state)
        var agents = AgentSettings(
            issuer: policy.issuer, resources: configuration.protectedResources(issuer: policy.issuer))
        agents.registration = configuration.clients.registration
        let services = APIServices(
            securityGuard: guarding, runtime: runtime, signIn: signIn,
            agents: AgentAccess(
                settings: agents, securityGuard: guarding, store: state, fetch: { _ in throw CancellationError() },
                clock: read),
            providerMemory: ProviderMemory(store: state, clock: read),
            passkeys: PasskeyService(party: Authenticator.party, store: state, signIn: signIn, clock: read),
            configuration: configuration, issuer: policy.issuer, clock: read, logger: Logger(label: "test"),
            storeIsAlive: { alive.value.withLock { $0 } }, leasesSettled: {}, refused: { _, _ in })
        self.alive = alive
        responder = APIResponder(services)
    }

    private let alive: Alive
    private let audits = Audits()

    /// What SecurityGuard has reported, oldest first.
    var audited: [AuditEvent] { audits.events.withLock { $0 } }

    /// From here on the store's feed is silent.
    func loseFeed() { alive.value.withLock { $0 = false } }

    /// The store's feed is heard again.
    func regainFeed() { alive.value.withLock { $0 = true } }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func account(_ email: String = "ada@example.com", tenant: String = "acme") async throws -> AccountRecord {
        try await guarding.accounts.add(email: email, password: Self.password, tenantID: tenant)
    }

    func client(scope: [String] = ["read"]) async throws -> (id: String, secret: String) {
        let (client, secret) = try await guarding.clients.add(name: "worker", tenantID: "acme", scope: scope)
        return (client.clientID, secret)
    }

    /// - Parameter verdict: what the edge has found the token to be.
    func send(
        _ method: String, _ path: String, _ ask: Ask = Ask(), verdict: Result<Principal, TokenFault>? = nil
    ) async throws -> Answer {
        let facts = APIRequestFacts(
            requestID: "req_1", path: path, query: nil, clientAddress: "192.0.2.1", authorization: ask.authorization,
            sessionSecret: ask.secret, sessionID: ask.sessionID, sessionCookie: ask.cookie,
            refreshCookie: ask.refreshCookie, cookieMode: .secure, isBrowser: ask.isBrowser, origin: nil,
            contentType: nil, body: Array(ask.body.utf8), verdict: verdict)
        var fields = HTTPFields()
        if let tag = ask.ifNoneMatch { fields[.ifNoneMatch] = tag }
        let request = Request(
            head: HTTPRequest(
                method: HTTPRequest.Method(rawValue: method) ?? .get, scheme: "https", authority: nil, path: path,
                headerFields: fields),
            body: .init(buffer: ByteBuffer()))
        let context = APIContext(source: APIContextSource(facts: facts, logger: Logger(label: "test")))
        let response = try await responder.respond(to: request, context: context)
        let gathered = Gathered()
        try await response.body.write(Gatherer(into: gathered))
        return Answer(response, gathered.bytes.withLock { $0 })
    }

    /// Logs in and expects to be let in.
    func login(_ email: String = "ada@example.com", secret: String? = nil) async throws -> Answer {
        try await send(
            "POST", "/api/auth/login",
            Ask(#"{"email":"\#(email)","password":"\#(Self.password)"}"#, secret: secret))
    }

    func anonymous() async throws -> Answer { try await send("POST", "/api/session/create-anonymous") }
}

/// What goes along with a request.
struct Ask {
    var body = ""
    var authorization = PresentedAuthorization.absent
    var secret: String?
    var sessionID: String?
    var cookie: String?
    var refreshCookie: String?
    var isBrowser = false
    var ifNoneMatch: String?

    init(
        _ body: String = "", token: String? = nil, secret: String? = nil, sessionID: String? = nil,
        cookie: String? = nil, refreshCookie: String? = nil, isBrowser: Bool = false, basic: String? = nil
    ) {
        self.body = body
        self.secret = secret
        self.sessionID = sessionID
        self.cookie = cookie
        self.refreshCookie = refreshCookie
        self.isBrowser = isBrowser
        if let token { authorization = .bearer(Array(token.utf8)) }
        if let basic { authorization = .basic(Array(Data(basic.utf8).base64EncodedString().utf8)) }
    }
}

/// What came back.
struct Answer: Sendable {
    let status: Int
    let headers: HTTPFields
    let bytes: [UInt8]
    let json: JSONObject

    init(_ response: Response, _ bytes: [UInt8]) {
        status = response.status.code
        headers = response.headers
        self.bytes = bytes
        json = (try? StrictJSON.object(bytes)) ?? JSONObject()
    }

    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
    var code: String? { json["code"]?.stringValue }
    var error: String? { json["error"]?.stringValue }
    var sessionID: String { json["session_id"]?.stringValue ?? "" }
    var secret: String? { json["session_secret"]?.stringValue }
    var token: String { json["access_token"]?.stringValue ?? "" }
    var refreshToken: String? { json["refresh_token"]?.stringValue }
    func text(_ name: String) -> String? { json[name]?.stringValue }

    /// The value of a cookie that the answer sets; empty when it clears it.
    func cookie(_ name: String) -> String? {
        headers[values: .setCookie].first { $0.hasPrefix(name + "=") }.map { field in
            String(field.dropFirst(name.count + 1).prefix { $0 != ";" })
        }
    }
}

private final class Audits: Sendable {
    let events = Mutex<[AuditEvent]>([])
}

private final class Alive: Sendable {
    let value = Mutex(true)
}

private final class Gathered: Sendable {
    let bytes = Mutex<[UInt8]>([])
}

private struct Gatherer: ResponseBodyWriter {
    let into: Gathered

    init(into: Gathered) { self.into = into }
    mutating func write(_ part: ByteBuffer) async throws {
        into.bytes.withLock { $0.append(contentsOf: part.readableBytesView) }
    }
    consuming func finish(_ trailers: HTTPFields?) async throws {}
}
