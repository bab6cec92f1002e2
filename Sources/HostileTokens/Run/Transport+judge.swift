import Encodings

extension Transport {
    /// Whether the answer lets the caller in.
    public func isAccepted(_ response: RawResponse, by target: Target) -> Bool {
        switch self {
        case .authorization, .query, .cookie: target.isSuccess(response.status)
        case .socketQuery, .socketHeaders, .socketProtocol: response.status == 101
        case .introspection: response.status == 200 && !Self.saysInactive(response.body)
        }
    }

    /// What an answer, or none, means for an attack.
    func verdict(
        on attack: Attack, _ payload: Payload, _ outcome: Result<RawResponse, SendFailure>, by target: Target
    ) -> Judgement {
        let expectation = attack.expectation
        switch outcome {
        case .failure(let failure):
            if failure.code == .closed, expectation.mayClose { return .passed("the connection was ended") }
            if failure.code == .refused, !expectation.isAccepted { return .passed(failure.description) }
            return Judgement(.inconclusive, failure.description)
        case .success(let response):
            if response.status == 429 || (response.status == 503 && target.isStrict) {
                return Judgement(.inconclusive, "\(response.status): the target limits the rate or is overloaded")
            }
            let accepted = isAccepted(response, by: target)
            if accepted, !expectation.isAccepted { return .failed("accepted with \(response.status)") }
            if expectation.isAccepted {
                return accepted
                    ? .passed("accepted with \(response.status)") : .failed("refused with \(response.status)")
            }
            // What another gateway's refusal looks like is its own affair.
            return !target.isStrict || rightStatuses(expectation, payload).contains(response.status)
                ? .passed("refused with \(response.status)")
                : .failed("answered \(response.status), which is not the right refusal")
        }
    }

    /// The statuses that are a right refusal over this transport.
    private func rightStatuses(_ expectation: Expectation, _ payload: Payload) -> Set<Int> {
        var statuses = expectation.statuses
        // Introspection answers what it cannot use with 200 and `active` false.
        if self == .introspection { statuses.formUnion([200, 400]) }
        // What no credential may look like is a bad request as well as a bad token (RFC 6750 §3.1).
        if case .token(let token) = payload, token.isEmpty || !token.allSatisfy(isTokenByte) {
            statuses.insert(400)
        }
        return statuses
    }

    /// The bytes of a `b64token` (RFC 6750 §2.1), without those that no subprotocol may have (RFC 6455 §4.1).
    private func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"): true
        case UInt8(ascii: "/"), UInt8(ascii: "="): self != .socketProtocol
        default: PercentEncoding.isUnreserved(byte)
        }
    }

    private static func saysInactive(_ body: [UInt8]) -> Bool {
        // The body may come in chunks: the object is what lies between the braces.
        guard let first = body.firstIndex(of: UInt8(ascii: "{")), let last = body.lastIndex(of: UInt8(ascii: "}")),
            first < last, case .success(let object) = Result(catching: { try StrictJSON.object(body[first...last]) })
        else { return false }
        return object["active"] == .bool(false)
    }
}
