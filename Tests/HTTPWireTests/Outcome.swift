import HTTPWire

/// The outcome of parsing one request, which the tables compare.
enum Outcome: Equatable, CustomStringConvertible {
    case accepted
    case unfinished
    case refused(WireError.Code)

    var description: String {
        switch self {
        case .accepted: "accepted"
        case .unfinished: "unfinished"
        case .refused(let code): "refused: \(code.rawValue)"
        }
    }
}

extension ParseResult {
    var outcome: Outcome {
        switch self {
        case .needMoreData: .unfinished
        case .head: .accepted
        case .failed(let error): .refused(error.code)
        }
    }

    var value: Head? {
        if case .head(let head) = self { head } else { nil }
    }
}
