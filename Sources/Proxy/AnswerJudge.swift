import Answers
import HTTPWire
import NIOCore

/// Decides whether the head of an upstream's answer may be passed on. Confined to its event loop.
package protocol AnswerJudge {
    /// Judges a final head, before any of it has been passed on.
    /// - Parameter upstream: the upstream that answered.
    func judge(_ head: ResponseHead, of upstream: UpstreamTarget) -> AnswerJudgement
}

/// The decision of an ``AnswerJudge``.
package enum AnswerJudgement {
    /// It may be passed on.
    case pass
    /// The client gets this instead.
    case refuse(Problem)
    /// The store is asked; it may be passed on if the answer is nil. Until then the upstream is not read further.
    case ask(EventLoopFuture<Problem?>)
}
