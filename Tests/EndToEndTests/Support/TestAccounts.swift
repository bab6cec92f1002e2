import Foundation
import StateSurface
import Synchronization

@testable import SecurityGuard

/// Accounts that are in a store before its gateway starts, as `gatehouse users add` would have put them there,
/// passwords of full cost included.
enum TestAccounts {
    /// Tests have few passwords, and each takes tens of milliseconds to hash.
    private static let hashes = Mutex<[String: String]>([:])

    /// Adds those that are not there.
    static func add(_ users: [TestUser], url: String) async throws {
        guard !users.isEmpty else { return }
        let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        let state = try await StateSurfaceFactory.open(url: url, clock: clock)
        do {
            for user in users {
                let key = Accounts.emailKey(user.email)
                guard try await !state.accounts(emailKey: key).contains(where: { $0.tenantID == user.tenant }) else {
                    continue
                }
                try await state.insert(
                    account: AccountRecord(
                        userID: RandomID.make(Prefix.user), tenantID: user.tenant, email: user.email, emailKey: key,
                        passwordHash: try hash(of: user.password), scope: user.scopes, createdAt: clock(),
                        emailVerified: true))
            }
            await state.close()
        } catch {
            await state.close()
            throw error
        }
    }

    private static func hash(of password: String) throws -> String {
        if let known = hashes.withLock({ $0[password] }) { return known }
        let made = try PasswordHash.make(Array(password.utf8), .current).text
        hashes.withLock { $0[password] = made }
        return made
    }
}
