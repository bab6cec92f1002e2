import Encodings
import Libcrypto

/// A login that may go on to the password check. It counts as failed until ``TrafficCop/loginDidNotFail(_:)`` is
/// called.
package struct LoginAttempt: Sendable {
    fileprivate let addressKey: String
    fileprivate let accountKey: String
    fileprivate let counterKey: HMACKey

    /// The names under which the store counts its failure, for all nodes and across restarts.
    ///
    /// They are MACs under a key that the nodes share, so a reader of the store cannot find out which address or
    /// account was counted by hashing guesses.
    package var counters: LoginCounters {
        LoginCounters(
            byAddress: counter("login by address", addressKey),
            byAccount: counter("login by account", accountKey))
    }

    private func counter(_ kind: String, _ key: String) -> String {
        var fields = FieldDigest()
        fields.append(kind)
        fields.append(key)
        return Base64URL.encode(counterKey.tag(of: fields.bytes).prefix(16))
    }
}

/// The names of the two counters that a failed login increments: 22 characters of base64url each.
package struct LoginCounters: Sendable, Equatable {
    /// Counts failures from one address bucket, on any account.
    package let byAddress: String
    /// Counts failures from one address bucket on one account.
    package let byAccount: String
}

extension TrafficCop {
    /// Takes one attempt from the allowance of the address and one from that of the account.
    ///
    /// They are taken before the password is checked, not after it failed: otherwise many concurrent attempts would all
    /// pass.
    /// - Parameters:
    ///   - address: the caller's ``AddressBucket``.
    ///   - account: the tenant and e-mail key as they are compared, whether or not such an account exists.
    /// - Returns: the attempt, or a denial with ``Denial/Code/rateLimited`` and the seconds to wait; then nothing was
    ///   taken.
    package func admitLogin(address: String, account: String) -> Result<LoginAttempt, Denial> {
        let attempt = LoginAttempt(
            addressKey: address, accountKey: "\(address.utf8.count):\(address)\(account)",
            counterKey: counterKey)
        if case .limited(let seconds) = allow(.loginByAddress, key: attempt.addressKey) {
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        if case .limited(let seconds) = allow(.loginByAccount, key: attempt.accountKey) {
            refund(.loginByAddress, key: attempt.addressKey)
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        return .success(attempt)
    }

    /// The time over which failures are counted, in milliseconds.
    package static let loginWindow: Int64 = 60_000

    /// Checks an attempt against the failures that all nodes have counted in the store, including those before a
    /// restart.
    ///
    /// - Parameters:
    ///   - attempt: what ``admitLogin(address:account:)`` returned.
    ///   - failuresByAddress: the count under ``LoginCounters/byAddress`` in the last ``loginWindow``.
    ///   - failuresByAccount: the count under ``LoginCounters/byAccount`` in the last ``loginWindow``.
    /// - Returns: nil when the attempt may go on. Otherwise a denial; what the attempt took has then been given back.
    package func judge(_ attempt: LoginAttempt, failuresByAddress: Int64, failuresByAccount: Int64) -> Denial? {
        guard limitsLogins else { return nil }
        let isWithin =
            failuresByAddress < perMinute(.loginByAddress) && failuresByAccount < perMinute(.loginByAccount)
        if isWithin { return nil }
        loginDidNotFail(attempt)
        return Denial(.rateLimited, retryAfterSeconds: Int(Self.loginWindow / 1_000))
    }

    /// Gives back what the attempt took: the login succeeded, or was never checked because the store or the password
    /// hasher was not available.
    package func loginDidNotFail(_ attempt: LoginAttempt) {
        refund(.loginByAddress, key: attempt.addressKey)
        refund(.loginByAccount, key: attempt.accountKey)
    }
}
