import Answers
import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore

/// The answer on its way to the client.
extension ProxyExchange {
    func sendInterim(_ head: ResponseHead) {
        // Only the final head is judged.
        let out = ResponseFilter.head(
            of: head, for: writer.answerForm, ownsCORS: terms.ownsCORS, keepsLength: false,
            dropsProtocolSession: terms.dropsProtocolSession || terms.judge != nil, date: nil)
        writer.sendInterim(out, isContinue: head.status == 100)
    }

    /// Takes the lease of a stream before it begins, and has the route's judge look at the head. Where memory does not
    /// know the session, the store is asked: it may have ended while the upstream thought, when there was no lease.
    func judge(_ head: ResponseHead) {
        if machine.endsWithLease { takeLease() }
        guard let judge = terms.judge else { return confirmLease() }
        guard let member = upstream?.member else {
            return machine.answerJudged(Problem(.upstreamUnavailable, reason: "upstream_closed"))
        }
        switch judge.judge(head, of: pool.target(member)) {
        case .pass: confirmLease()
        case .refuse(let problem): machine.answerJudged(problem)
        case .ask(let answer):
            answer.assumeIsolated().whenComplete { result in
                switch result {
                case .success(nil): self.confirmLease()
                case .success(let refusal?): self.act { $0.answerJudged(refusal) }
                case .failure: self.act { $0.answerJudged(Problem(.storeUnavailable, reason: "store_unavailable")) }
                }
                self.upstream?.resumeReading()
            }
        }
    }

    private func confirmLease() {
        let bound = NIOLoopBound(self, eventLoop: writer.eventLoop)
        let isAsked = leaseID.map { id in
            leases.confirm(id) {
                bound.eventLoop.execute {
                    let exchange = bound.value
                    exchange.act { $0.answerJudged(nil) }
                    exchange.upstream?.resumeReading()
                }
            }
        }
        if isAsked != true { act { $0.answerJudged(nil) } }
    }

    func startAnswer(_ head: ResponseHead) {
        writer.upstreamAnswered()
        if let asked { pool.answered(asked, status: head.status) }
        guard writer.takesAnyBytes || ResponseFilter.isText(head) else {
            return machine.cannotPassOn(reason: "upstream_answer_not_utf8")
        }
        if let end = endBeforeAnswer { return machine.admissionEnded(Problem(endedBeforeUse: end)) }
        deadline.arm(after: terms.timeout)
        // Of the answers without a body, only those to HEAD and 304 may say how long it would be (RFC 9110 section
        // 8.6).
        let keepsLength = head.framing == .none && head.status != 204 && (isHead || head.status == 304)
        let out = ResponseFilter.head(
            of: head, for: writer.answerForm, ownsCORS: terms.ownsCORS, keepsLength: keepsLength,
            dropsProtocolSession: terms.dropsProtocolSession, date: writer.date)
        writer.startResponse(out, framing: ResponseFraming(of: head))
    }

    /// Why what admitted the request is over. While the upstream was preparing its answer there was no lease that could
    /// have told. Unless it is a stream, only a revocation counts.
    private var endBeforeAnswer: LeaseEnd? {
        if let leaseID { return leases.endBeforeUse(of: leaseID) }
        guard leases.revocationCount != revocationsBefore, let lease = leaseTerms() else { return nil }
        return leases.endBeforeUse(of: lease)
    }

    /// Takes a lease for an answer that is not complete after its first burst of bytes. A stream is ended by everything
    /// that ends its lease, any other answer only by a revocation.
    func takeLease() {
        guard leaseID == nil, let lease = leaseTerms() else { return }
        leaseID = leases.insert(lease, holder: self)
        machine.leaseTaken()
    }

    /// nil for an open route. The end of the session is a revocation only where it ends the token's family as well.
    private func leaseTerms() -> LeaseTerms? {
        var lease = terms.admission.leaseTerms(terms.leaseBounds, now: terms.receivedAt)
        if !machine.endsWithLease {
            lease?.sessionID = nil
            lease?.expiresAt = nil
            lease?.endsAt = .max
            lease?.account = nil
            lease?.allow = nil
        }
        return lease
    }
}
