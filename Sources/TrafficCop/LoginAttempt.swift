import Encodings
import Libcrypto

/// A login that was let through to the password check, and counts as a failure until it is known to be none.
package struct LoginAttempt: Sendable {
    fileprivate let addressKey: String
    fileprivate let accountKey: String
    fileprivate let counterKey: HMACKey

    /// The names under which its failure is counted where it survives a restart and other nodes see it. They are made
    /// with a key that these nodes have in common: guessing an address and an e-mail does not tell what was counted.
    package var counters: LoginCounters {
        LoginCounters(
            byAddress: self.counter("login by address", self.addressKey),
            byAccount: self.counter("login by account", self.accountKey))
    }

    private func counter(_ kind: String, _ key: String) -> String {
        var fields = FieldDigest()
        fields.append(kind)
        fields.append(key)
        return Base64URL.encode(self.counterKey.tag(of: fields.bytes).prefix(16))
    }
}

/// The names of the two counters that a login belongs to.
package struct LoginCounters: Sendable, Equatable {
    package let byAddress: String
    package let byAccount: String
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
            addressKey: address, accountKey: "\(address.utf8.count):\(address)\(account)",
            counterKey: self.counterKey)
        if case .limited(let seconds) = self.allow(.loginByAddress, key: attempt.addressKey) {
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        if case .limited(let seconds) = self.allow(.loginByAccount, key: attempt.accountKey) {
            self.refund(.loginByAddress, key: attempt.addressKey)
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        return .success(attempt)
    }

    /// Failures are counted over a minute, in milliseconds.
    package static let loginWindow: Int64 = 60_000

    /// Judges an attempt by the failures that were counted by every node, and before this one was started.
    /// - Returns: nil when it may go on; otherwise it has been given back and counts for nothing.
    package func judge(_ attempt: LoginAttempt, failuresByAddress: Int64, failuresByAccount: Int64) -> Denial? {
        guard self.limitsLogins else { return nil }
        let isWithin =
            failuresByAddress < self.perMinute(.loginByAddress) && failuresByAccount < self.perMinute(.loginByAccount)
        if isWithin { return nil }
        self.loginDidNotFail(attempt)
        return Denial(.rateLimited, retryAfterSeconds: Int(Self.loginWindow / 1_000))
    }

    /// The login did not fail (or was never judged, for want of a store or a free hasher): it does not count.
    package func loginDidNotFail(_ attempt: LoginAttempt) {
        self.refund(.loginByAddress, key: attempt.addressKey)
        self.refund(.loginByAccount, key: attempt.accountKey)
    }
}
