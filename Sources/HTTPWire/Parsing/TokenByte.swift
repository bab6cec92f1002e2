/// The bytes of tokens (`tchar`, RFC 9110 section 5.6.2): methods, field names and subprotocols consist of them.
public enum TokenByte {
    /// Whether a token may have the byte.
    public static func contains(_ byte: UInt8) -> Bool { ByteClass.token.contains(byte) }
}
