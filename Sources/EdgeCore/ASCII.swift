/// ASCII letters without regard to case.
package enum ASCII {
    /// The byte in lower case, if it is an upper-case ASCII letter; else the byte itself.
    package static func lower(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }
}
