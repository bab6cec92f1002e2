import StateSurface

/// Which account an e-mail means. An e-mail is unique in its tenant alone.
enum LoginChoice {
    /// Among several: the one of `accounts.default_tenant`, else the only one whose e-mail is verified. A registration
    /// makes no verified one, so that nobody's registration takes another's login away.
    ///
    /// - Returns: nil when there is none, or nothing says which.
    static func account(of candidates: [AccountRecord], defaultTenant: String?) -> AccountRecord? {
        if candidates.count < 2 { return candidates.first }
        if let defaultTenant, let account = candidates.first(where: { sameBytes($0.tenantID, defaultTenant) }) {
            return account
        }
        let verified = candidates.filter(\.emailVerified)
        return verified.count == 1 ? verified.first : nil
    }
}
