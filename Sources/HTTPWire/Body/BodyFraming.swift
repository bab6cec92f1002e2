/// How the end of a message body is found (RFC 9112 §6.3).
package enum BodyFraming: Sendable, Equatable {
    /// No body follows the head.
    case none
    /// Exactly so many bytes follow; the message said so with `Content-Length`.
    case length(Int64)
    /// Chunks follow.
    case chunked
    /// Everything until the connection closes; responses only.
    case untilClose
}
