import BasicsForTests
import Foundation
import JOSE
import StateSurface
import StateSurfaceTesting

@testable import SecurityGuard

/// A guard over a memory store, a clock in the test's hand and a key directory of its own.
struct Fixture: Sendable {
    static let password = "correct horse battery staple"
    /// Cheap: tests hash often.
    static let cost = ScryptParameters(logN: 4, r: 8, p: 1)

    let clock = TestClock()
    let state = MemoryStore()
    let events = Collected<AuditEvent>()
    let folder: TemporaryFolder
    let policy: TokenPolicy
    let subject: SecurityGuard

    init(
        issuers: [TrustedIssuer] = [], fetch: @escaping Fetch = SecurityGuard.noFetch,
        adjust: (inout TokenPolicy) -> Void = { _ in }
    ) async throws {
        var policy = TokenPolicy(
            issuer: "https://gate.example", algorithm: .es256, defaultScope: ["read", "write"],
            scrypt: Self.cost)
        adjust(&policy)
        self.policy = policy
        folder = try TemporaryFolder()
        let events = events
        subject = try await SecurityGuard(
            policy: policy, keyDirectory: KeyDirectory(path: folder.path, policy: policy, clock: clock.read),
            state: state, issuers: issuers, fetch: fetch, clock: clock.read, audit: { events.append($0) })
    }

    func account(_ email: String = "ada@example.com", tenant: String = "acme") async throws -> AccountRecord {
        try await subject.accounts.add(email: email, password: Self.password, tenantID: tenant)
    }

    func login() async throws -> IssuedTokens { try await subject.openFamily(for: account()) }

    func judge(_ token: String) -> Result<Principal, TokenFault> { subject.judge(token: token.utf8) }

    func reasons(_ name: AuditEvent.Name) -> [String] { events.all.filter { $0.name == name }.map(\.reason) }
}

/// A folder that is removed when it is no longer referenced.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "gatehouse-keys-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func files(ending suffix: String = ".pem") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }.sorted()
    }
}

extension Result where Failure == TokenFault {
    var fault: TokenFault? { if case .failure(let fault) = self { fault } else { nil } }
    var isGood: Bool { fault == nil }
}
