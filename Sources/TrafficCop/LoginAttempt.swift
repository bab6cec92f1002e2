/// A login that was let through to the password check, and counts as a failure until it is known to be none.
package struct LoginAttempt: Sendable {
    fileprivate let addressKey: String
    fileprivate let accountKey: String
}

extension TrafficCop {
    /// Lets a login through to the password check, taking from both allowances at once.
    ///
    /// It is taken before the check, not after a failure: else many tries at once would all pass.
    /// - Parameters:
    ///   - address: the caller's address bucket.
    ///   - account: the account as it is compared (tenant and e-mail key), whether or not it exists.
    package func admitLogin(address: String, account: String) -> Result<LoginAttempt, Denial> {
        let attempt = LoginAttempt(
            addressKey: address, accountKey: "\(address.utf8.count):\(address)\(account)")
        if case .limited(let seconds) = self.allow(.loginByAddress, key: attempt.addressKey) {
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        if case .limited(let seconds) = self.allow(.loginByAccount, key: attempt.accountKey) {
            self.refund(.loginByAddress, key: attempt.addressKey)
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        return .success(attempt)
    }

    /// The login did not fail (or was never judged, for want of a store or a free hasher): it does not count.
    package func loginDidNotFail(_ attempt: LoginAttempt) {
        self.refund(.loginByAddress, key: attempt.addressKey)
        self.refund(.loginByAccount, key: attempt.accountKey)
    }
}
