/// How the end of a message body is found (RFC 9112 section 6.3).
public enum BodyFraming: Sendable, Equatable {
    /// No body follows the head.
    case none
    /// Exactly this many bytes follow, as stated by `Content-Length`.
    case length(Int64)
    /// Chunks follow (RFC 9112 section 7.1).
    case chunked
    /// The body lasts until the connection closes; responses only.
    case untilClose
}
