import CLibcrypto

/// A failed libcrypto call or a refused key. It says which call failed and carries libcrypto's error codes, and never a
/// byte of a key.
package struct LibcryptoError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure that a caller can tell apart.
    package enum Code: String, Sendable {
        /// The bytes are not a key in any known form.
        case unreadableKey = "unreadable_key"
        /// The key is encrypted, and no passphrase or the wrong one was given.
        case passphrase
        /// The key's algorithm or curve is not supported, or does not fit the operation.
        case unsupportedKey = "unsupported_key"
        /// The numbers do not make a sound key: too short, not on the curve, or private and public key do not belong
        /// together.
        case unsoundKey = "unsound_key"
        /// The installed libcrypto does not have the algorithm.
        case algorithmUnavailable = "algorithm_unavailable"
        /// A call failed that fails only for lack of memory or because of a defect.
        case failed
    }

    /// The kind of failure.
    package let code: Code
    /// What failed, without secrets.
    package let message: String
    /// libcrypto's own error codes, oldest first.
    package let stack: [UInt]

    /// An error with the codes in libcrypto's error queue of this thread, which is emptied.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        self.stack = Self.drain()
    }

    /// The message, and libcrypto's codes in hexadecimal.
    package var description: String {
        stack.isEmpty ? message : "\(message) (libcrypto \(stack.map { String($0, radix: 16) }.joined(separator: " ")))"
    }

    /// Throws unless `result` is exactly 1: libcrypto reports failure as 0 and also as negative numbers.
    static func check(_ result: CInt, _ call: StaticString) throws(LibcryptoError) {
        guard result == 1 else { throw LibcryptoError(.failed, "\(call) failed") }
    }

    /// Returns the value, or throws if libcrypto returned a null pointer.
    static func unwrap<Value>(_ value: Value?, _ call: StaticString) throws(LibcryptoError) -> Value {
        guard let value else { throw LibcryptoError(.failed, "\(call) failed") }
        return value
    }

    /// Empties the error queue of this thread, so that an old failure is not taken for a new one. Returns the oldest 16
    /// codes.
    private static func drain() -> [UInt] {
        var codes: [UInt] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return codes }
            if codes.count < 16 { codes.append(UInt(code)) }
        }
    }
}
