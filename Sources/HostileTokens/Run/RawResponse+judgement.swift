import Encodings

extension RawResponse {
    /// Whether the status grants access: 2xx, or 101 where the token travels in a WebSocket's handshake.
    var grantsAccess: Bool { isSuccess || status == 101 }

    /// The verdict: passed unless the status is a success.
    func refused(_ what: String) -> Judgement {
        grantsAccess
            ? .failed("\(what) was accepted with \(status)") : .passed("refused with \(status)")
    }

    /// The value of a string member of a JSON body, or nil.
    func text(_ name: String) -> String? {
        guard case .success(let object) = Result(catching: { try StrictJSON.object(content) }) else { return nil }
        return object[name]?.stringValue
    }

    /// The body without the parts that differ from request to request.
    ///
    /// `request_id` and `instance` are replaced by null in a JSON object (RFC 9457); any other body is compared whole.
    var fingerprint: String {
        guard case .success(var object) = Result(catching: { try StrictJSON.object(content) }) else {
            return String(decoding: content, as: UTF8.self)
        }
        for name in ["request_id", "instance"] where object[name] != nil { object[name] = .null }
        return object.serialized()
    }
}
