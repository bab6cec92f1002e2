import CLibcrypto

/// A libcrypto call that failed: which one, and the codes it left behind; never a byte of a key.
package struct LibcryptoError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, as far as a caller can act on it.
    package enum Code: String, Sendable {
        /// The bytes are no key of any known form, or a broken one.
        case unreadableKey = "unreadable_key"
        /// The key is encrypted, and no passphrase or the wrong one was given.
        case passphrase
        /// A key of a kind, size or curve that is not used here.
        case unsupportedKey = "unsupported_key"
        /// The numbers do not make a sound key: too short, off the curve, halves that do not belong together.
        case unsoundKey = "unsound_key"
        /// The installed libcrypto does not have the algorithm.
        case algorithmUnavailable = "algorithm_unavailable"
        /// A call failed that should not have.
        case failed
    }

    /// What went wrong.
    package let code: Code
    /// One sentence without secrets.
    package let message: String
    /// libcrypto's own error codes, oldest first.
    package let stack: [UInt]

    /// An error of a kind; takes over what libcrypto's error queue of this thread holds.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        self.stack = Self.drain()
    }

    /// The sentence and libcrypto's codes.
    package var description: String {
        stack.isEmpty ? message : "\(message) (libcrypto \(stack.map { String($0, radix: 16) }.joined(separator: " ")))"
    }

    /// Throws unless `result` is exactly 1, which is the only yes that libcrypto has.
    static func check(_ result: CInt, _ call: StaticString) throws(LibcryptoError) {
        guard result == 1 else { throw LibcryptoError(.failed, "\(call) failed") }
    }

    /// The value, or an error if libcrypto answered with none.
    static func unwrap<Value>(_ value: Value?, _ call: StaticString) throws(LibcryptoError) -> Value {
        guard let value else { throw LibcryptoError(.failed, "\(call) failed") }
        return value
    }

    /// Empties the error queue of this thread, so that an old failure is not read as a new one.
    private static func drain() -> [UInt] {
        var codes: [UInt] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return codes }
            if codes.count < 16 { codes.append(UInt(code)) }
        }
    }
}
