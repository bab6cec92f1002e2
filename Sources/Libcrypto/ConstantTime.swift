import CLibcrypto

/// Comparison in a time that does not depend on where two values differ.
package enum ConstantTime {
    /// Whether both arrays hold the same bytes. The time depends on their lengths only, which are therefore not secret.
    package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
