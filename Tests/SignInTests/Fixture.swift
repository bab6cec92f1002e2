import BasicsForTests
import Foundation
import Runtime
import SecurityGuard
import SignIn
import Synchronization
import TrafficCop

@testable import StateSurface

/// The use cases over an SQLite file of their own, a clock in the test's hand, and no HTTP.
final class Fixture: Sendable {
    static let password = "correct horse battery staple"
    static let address = "192.0.2.1"

    let clock = TestClock()
    let engine: InterruptibleEngine
    let store: any StateSurface
    let securityGuard: SecurityGuard
    let runtime: Runtime
    let trafficCop: TrafficCop
    let signIn: SignInService
    /// The names of audit events, in order, each with its reason where it has one.
    let audited = Collected<String>()
    /// The sessions whose end the store has told this node of, by which their sockets close.
    let announced = Collected<String>()
    private let subscription: Subscription
    private let folder: String

    init(perUser: Int = 1_000) async throws {
        folder = NSTemporaryDirectory() + "gatehouse-signin-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        engine = InterruptibleEngine(inner: try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite"))
        let (read, audited, announced) = (clock.read, audited, announced)
        store = SQLSurface(engine: engine, clock: read)
        let policy = TokenPolicy(
            issuer: "https://gate.example", defaultScope: ["read"], scrypt: ScryptParameters(logN: 4, r: 8, p: 1))
        securityGuard = try await SecurityGuard(
            policy: policy, keyDirectory: KeyDirectory(path: folder + "/keys", policy: policy, clock: read),
            state: store, clock: read,
            audit: { audited.append($0.reason.isEmpty ? $0.name.rawValue : "\($0.name.rawValue) \($0.reason)") })
        trafficCop = TrafficCop(limits: RateLimits(anonymousPerMinute: 1_000, loginPerMinute: 5), clock: read)
        runtime = Runtime(
            state: store, trafficCop: trafficCop, policy: SessionPolicy(perUser: perUser), clock: read,
            audit: { audited.append($0.reason.isEmpty ? $0.name.rawValue : "\($0.name.rawValue) \($0.reason)") })
        signIn = SignInService(
            securityGuard: securityGuard, runtime: runtime, trafficCop: trafficCop, store: store)
        subscription = store.subscribe { change in
            if case .session(let id, let state, _) = change, !state.isLive { announced.append(id) }
        }
    }

    deinit {
        subscription.cancel()
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Acting

    func account(_ email: String = "ada@example.com", tenant: String = "acme") async throws -> ProvedAccount {
        ProvedAccount(
            try await securityGuard.accounts.add(email: email, password: Self.password, tenantID: tenant),
            by: .password)
    }

    func anonymous() async throws -> IssuedSession {
        try await signIn.openAnonymous(clientAddress: Self.address)
    }

    func target(_ issued: IssuedSession, named: String? = nil) async throws -> SignInTarget? {
        try await signIn.target(secretHash: issued.secret.hash, current: nil, named: named)
    }

    func signIn(_ proved: ProvedAccount, to target: SignInTarget? = nil, named: String? = nil) async throws -> SignedIn
    {
        try await signIn.signIn(proved, target: target, named: named, clientAddress: Self.address)
    }

    /// A session that a token of this sign-in opens elsewhere.
    func guest(of signedIn: SignedIn) async throws -> IssuedSession {
        let intent = SessionIntent(
            kind: .authenticated, clientAddress: Self.address, tenantID: signedIn.account.tenantID,
            userID: signedIn.account.userID)
        return try await signIn.open(intent, with: signedIn.tokens.principal)
    }

    // MARK: Looking

    func state(_ sessionID: String) async throws -> StoredSessionState? {
        try await store.session(id: sessionID)?.state
    }

    func opens(_ issued: IssuedSession) async throws -> Bool {
        try await runtime.current(secretHash: issued.secret.hash) != nil
    }

    func isGood(_ tokens: IssuedTokens) -> Bool {
        if case .success = securityGuard.judge(token: tokens.accessToken.utf8) { true } else { false }
    }
}

extension SignedIn {
    var sessionID: String { session.session.id }
    var proof: SessionProof { .secret(hash: session.secret.hash) }
}

/// A database that can be cut off in the middle of a transaction, as a process that is killed is: after everything was
/// said, before the commit.
final class InterruptibleEngine: SQLEngine {
    struct Killed: TransactionAbort {}

    let inner: any SQLEngine
    let killsNext = Atomic<Bool>(false)
    /// How many transactions were begun.
    let transactions = Atomic<Int>(0)

    init(inner: any SQLEngine) { self.inner = inner }

    var dialect: SQLDialect { inner.dialect }
    var observers: Observers { inner.observers }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        transactions.add(1, ordering: .relaxed)
        let kills = killsNext.exchange(false, ordering: .relaxed)
        return try await inner.write { transaction in
            let value = try body(transaction)
            if kills { throw Killed() }
            return value
        }
    }

    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow] { try await inner.rows(sql, values) }
    func sinceLastBeat() -> Duration { inner.sinceLastBeat() }
    func feedIsLost() -> Bool { inner.feedIsLost() }
    func ping() async throws { try await inner.ping() }
    func close() async { await inner.close() }
}
