import HTTPWire

/// How the body of an answer is delimited.
package enum ResponseFraming: Equatable {
    /// No body at all (HEAD, 204, 304).
    case none
    /// A body of this many bytes.
    case length(Int64)
    /// Unknown length: chunked to HTTP/1.1 clients, until close to HTTP/1.0 ones.
    case stream

    /// How the end of an upstream's answer is shown to the client.
    package init(of head: ResponseHead) {
        switch head.framing {
        case .none: self = .none
        case .length(let count): self = .length(count)
        case .chunked, .untilClose: self = .stream
        }
    }
}
