import Answers
import HTTPWire

/// The answer on its way to the client.
extension ProxyMachine {
    /// The next action of an exchange that has a connection: it passes the answer on, as far as it has come.
    mutating func nextOfAnswer(_ clientTakes: Bool) -> Action? {
        switch attempt.answer.next(takesBody: clientTakes) {
        case .interim(let head): return .sendInterim(head)
        case .start(let head):
            flow.expects(isStream: terms.isLeased || ResponseFilter.isEventStream(head))
            phase = .answered(head)
            return .answered(status: head.status)
        case .part(let part):
            flow.passedPart()
            return .sendAnswer(part)
        case .wait: return nextOfPause(clientTakes)
        case .end: end(.complete, reuse: mayReuse)
        case .cut where attempt.answer.hasStarted, .malformed where attempt.answer.hasStarted: end(.abort)
        case .cut: fail(Problem(.upstreamUnavailable, reason: "upstream_closed"))
        case .malformed:
            attempt.recordFault(.malformed)
            fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
        case .unexpected, .switched: fail(Problem(.upstreamUnavailable, reason: "unexpected_interim_answer"))
        }
        return next(clientTakes: clientTakes, upstreamTakes: true)
    }

    /// What happens with a final head: it is passed on, judged first, or refused. A stream is judged in any case, since
    /// its lease is.
    mutating func next(of head: ResponseHead, _ clientTakes: Bool, _ upstreamTakes: Bool) -> Action? {
        guard terms.takesAnyBytes || ResponseFilter.isText(head) else {
            fail(Problem(.upstreamUnavailable, reason: "upstream_answer_not_utf8"))
            return next(clientTakes: clientTakes, upstreamTakes: upstreamTakes)
        }
        if flow.isStream {
            phase = .leased(head)
            return .takeLease
        }
        guard terms.isJudged else { return startAnswer(head) }
        phase = .judging(head)
        return .judgeAnswer(head)
    }

    mutating func startAnswer(_ head: ResponseHead) -> Action {
        phase = .running
        flow.started()
        // Of the answers without a body, only those to HEAD and 304 may say how long it would be (RFC 9110 section
        // 8.6).
        let keepsLength =
            head.framing == .none && head.status != 204 && (terms.method == .head || head.status == 304)
        return .startAnswer(head, keepsLength: keepsLength)
    }

    /// The action that is due while no more of an unfinished answer can be passed on.
    private mutating func nextOfPause(_ clientTakes: Bool) -> Action? {
        guard attempt.answer.hasStarted, attempt.answer.isBurstOver || !clientTakes else { return nil }
        switch flow.nextOfPause() {
        case .takeLease: return .takeLease
        case .flush: return .flushAnswer
        case nil: return nil
        }
    }

    /// Whether the connection may carry another exchange: request and answer were complete, no bytes followed them, and
    /// no other implementation could see the end of the answer in another place.
    private var mayReuse: Bool {
        guard let head = attempt.answer.head, head.keepAlive, !attempt.answer.isUpstreamOver, !attempt.answer.hasMore,
            attempt.unsent.isSent
        else { return false }
        // If the announced body came nevertheless, its bytes would be taken for the next exchange's answer.
        let announcesBody = head.contentLength.map { $0 > 0 } ?? head.present.contains(.transferEncoding)
        if head.framing == .none, announcesBody { return false }
        switch terms.method {
        case .get, .head, .delete, .options: return terms.framing == .none || terms.framing == .length(0)
        default: return true
        }
    }
}
