import Encodings

extension Transport {
    /// Whether the answer means that the token was accepted.
    ///
    /// - Parameter target: says which statuses of plain requests are successes.
    public func isAccepted(_ response: RawResponse, by target: Target) -> Bool {
        switch self {
        case .authorization, .query, .cookie, .body: target.isSuccess(response.status)
        case .socketQuery, .socketHeaders, .socketProtocol, .socketCookie: response.status == 101
        case .introspection: response.status == 200 && !Self.saysInactive(response.body)
        }
    }

    /// The verdict on an attack from its answer, or from the lack of one.
    ///
    /// - Returns: inconclusive for 429, for 503 if the target is strict, and without an answer unless its lack is a
    ///   refusal; otherwise passed or failed.
    func verdict(
        on attack: Attack, _ payload: Payload, _ outcome: Result<RawResponse, SendFailure>, by target: Target
    ) -> Judgement {
        let expectation = attack.expectation
        switch outcome {
        case .failure(let failure):
            if failure.code == .closed, expectation.mayClose { return .passed("the connection was ended") }
            if failure.code == .refused, !expectation.isAccepted { return .passed(failure.description) }
            return Judgement(failure)
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
            // Targets other than Gatehouse may refuse with other statuses, unless `isStrict` is set.
            return !target.isStrict || rightStatuses(expectation, payload).contains(response.status)
                ? .passed("refused with \(response.status)")
                : .failed("answered \(response.status), which is not the right refusal")
        }
    }

    /// The statuses of a correct refusal over this transport.
    private func rightStatuses(_ expectation: Expectation, _ payload: Payload) -> Set<Int> {
        var statuses = expectation.statuses
        // Introspection answers an invalid token with 200 and `active` false (RFC 7662 section 2.2).
        if self == .introspection { statuses.formUnion([200, 400]) }
        // A token with bytes that no token may have is also an invalid request (RFC 6750 section 3.1).
        if case .token(let token) = payload, token.isEmpty || !token.allSatisfy(isTokenByte) {
            statuses.insert(400)
        }
        return statuses
    }

    /// Whether the byte is allowed in a `b64token` (RFC 6750 section 2.1) and in a subprotocol (RFC 6455 section 4.1).
    private func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"): true
        case UInt8(ascii: "/"), UInt8(ascii: "="): self != .socketProtocol
        default: PercentEncoding.isUnreserved(byte)
        }
    }

    private static func saysInactive(_ body: [UInt8]) -> Bool {
        // The body may be framed in chunks, so the object is searched between the outermost braces.
        guard let first = body.firstIndex(of: UInt8(ascii: "{")), let last = body.lastIndex(of: UInt8(ascii: "}")),
            first < last, case .success(let object) = Result(catching: { try StrictJSON.object(body[first...last]) })
        else { return false }
        return object["active"] == .bool(false)
    }
}
