/// The close codes that may be sent on the wire (RFC 6455 section 7.4).
public enum WebSocketCloseCode {
    /// Whether a peer may send `code`: a registered code that is not reserved, or 3000 to 4999.
    public static func isLegal(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
