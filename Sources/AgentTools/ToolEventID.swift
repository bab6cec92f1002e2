/// The id of an event of a stream, with which a client resumes it (`Last-Event-ID`).
package enum ToolEventID: Sendable, Equatable {
    /// In the stream of one call, before its answer.
    case call(RPCID)
    /// In the session's stream: the number of its event.
    case event(Int64)

    /// As it is sent.
    package var text: String {
        switch self {
        case .call(let id): "call." + id.token
        case .event(let seq): "event.\(seq)"
        }
    }

    /// Reads what a client sends; nil for anything that was never an id.
    package init?(_ text: String) {
        guard text.utf8.count <= 512 else { return nil }
        if text.utf8.starts(with: "call.".utf8), let id = RPCID(token: text.dropFirst(5)) {
            self = .call(id)
        } else if text.utf8.starts(with: "event.".utf8), let seq = Int64(text.dropFirst(6)), seq >= 0,
            "event.\(seq)".utf8.elementsEqual(text.utf8)
        {
            self = .event(seq)
        } else {
            return nil
        }
    }
}
