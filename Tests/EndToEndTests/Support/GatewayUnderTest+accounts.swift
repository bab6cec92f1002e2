import Foundation
import StateSurface

extension GatewayUnderTest {
    /// Changes an account in the store from outside the gateway, as `gatehouse users set` or another node does.
    func setAccount(_ user: TestUser, _ change: (inout AccountRecord) -> Void) async throws {
        let state = try await StateSurfaceFactory.open(
            url: "sqlite:\(directory.path)/state.sqlite", clock: { Int64(Date().timeIntervalSince1970 * 1_000) })
        do {
            let found = try await state.accounts(emailKey: user.email).first { $0.tenantID == user.tenant }
            guard var account = found else { throw Failure(description: "no account \(user.email)") }
            change(&account)
            guard try await state.replace(account: account) else { throw Failure(description: "changed meanwhile") }
            await state.close()
        } catch {
            await state.close()
            throw error
        }
    }
}
