/// What is sent in an attack.
public enum Payload: Sendable, Equatable {
    /// Sent in place of the token, over any transport.
    case token([UInt8])
    /// Sent as values of `Authorization`, one field line each, and optionally as `access_token` in the query. Only over
    /// plain HTTP requests.
    case authorization([[UInt8]], query: [UInt8]? = nil)

    /// The number of bytes.
    public var byteCount: Int {
        switch self {
        case .token(let bytes): bytes.count
        case .authorization(let values, let query): values.reduce(query?.count ?? 0) { $0 + $1.count }
        }
    }
}
