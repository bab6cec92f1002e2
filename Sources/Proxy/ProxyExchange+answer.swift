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

    /// The head has arrived. While the upstream was preparing its answer there was no lease that could have told that
    /// what admitted the request is over.
    func answered(_ status: Int) {
        writer.upstreamAnswered()
        if let asked { pool.answered(asked, status: status) }
        if let end = endBeforeAnswer { machine.admissionEnded(Problem(endedBeforeUse: end)) }
    }

    /// Has the route's judge look at the head. Where memory does not know the session of a stream, the store is asked:
    /// it may have ended while the upstream thought.
    func judge(_ head: ResponseHead) {
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
                    bound.value.passJudgement()
                    bound.value.upstream?.resumeReading()
                }
            }
        }
        if isAsked != true { passJudgement() }
    }

    /// Nothing is wrong with the head. What admitted the request may be over meanwhile.
    private func passJudgement() {
        let refusal = endBeforeAnswer.map(Problem.init(endedBeforeUse:))
        act { $0.answerJudged(refusal) }
    }

    func startAnswer(_ head: ResponseHead, keepsLength: Bool) {
        deadline.arm(after: terms.timeout)
        let out = ResponseFilter.head(
            of: head, for: writer.answerForm, ownsCORS: terms.ownsCORS, keepsLength: keepsLength,
            dropsProtocolSession: terms.dropsProtocolSession, date: writer.date)
        writer.startResponse(out, framing: ResponseFraming(of: head))
    }

    /// Why what admitted the request is over. Without a lease only a revocation counts: a refresh that made the token's
    /// end a later one would not have been noticed.
    private var endBeforeAnswer: LeaseEnd? {
        if let leaseID { return leases.endBeforeUse(of: leaseID) }
        guard leases.revocationCount != revocationsBefore, let lease = leaseTerms()?.endedByRevocationAlone else {
            return nil
        }
        return leases.endBeforeUse(of: lease)
    }

    /// Takes a lease for a stream before it begins, and for an answer that is not complete after its first burst of
    /// bytes. A stream is ended by everything that ends its lease, any other answer only by a revocation.
    func takeLease() {
        guard leaseID == nil, let lease = leaseTerms() else { return }
        leaseID = leases.insert(lease, holder: self)
        machine.leaseTaken()
    }

    /// nil for an open route.
    private func leaseTerms() -> LeaseTerms? {
        let lease = terms.admission.leaseTerms(terms.leaseBounds, now: terms.receivedAt)
        return machine.endsWithLease ? lease : lease?.endedByRevocationAlone
    }
}
