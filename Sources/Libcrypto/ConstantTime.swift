import CLibcrypto

/// Comparison whose time tells nothing about where two values differ.
package enum ConstantTime {
    /// Whether both are the same bytes; the time depends on their lengths only.
    package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
