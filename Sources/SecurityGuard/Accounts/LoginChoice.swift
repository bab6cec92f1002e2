import StateSurface

/// Chooses the account that an e-mail means, because an e-mail is unique only within its tenant.
enum LoginChoice {
    /// Of several accounts, that of `accounts.default_tenant`, or else the only one whose e-mail is verified.
    /// Registrations are not verified, so a registration cannot take over another user's login.
    ///
    /// - Returns: nil if there is none, or it is ambiguous.
    static func account(of candidates: [AccountRecord], defaultTenant: String?) -> AccountRecord? {
        if candidates.count < 2 { return candidates.first }
        if let defaultTenant, let account = candidates.first(where: { sameBytes($0.tenantID, defaultTenant) }) {
            return account
        }
        let verified = candidates.filter(\.emailVerified)
        return verified.count == 1 ? verified.first : nil
    }
}
