/// The four forms of a request target (RFC 9112 section 3.2).
public enum TargetForm: Sendable, Equatable {
    /// `/path?query`.
    case origin
    /// `http://authority/path?query` or the same with `https`. The authority must equal `Host`.
    case absolute
    /// `host:port`, only with `CONNECT`.
    case authority
    /// `*`, only with `OPTIONS`.
    case asterisk
}
