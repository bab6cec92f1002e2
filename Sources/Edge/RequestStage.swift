import Answers
import EdgeCore
import Gate

/// How one kind of target answers a request. ``Dispatcher`` runs the steps in order.
protocol RequestStage {
    /// Puts a refusal into the form that the target's clients understand, and answers with it.
    func refuse(_ problem: Problem)
}

/// A stage behind the gate.
protocol GatedStage: RequestStage {
    /// Goes on with a request that was admitted.
    ///
    /// - Returns: the exchange that takes the body, or nil when the answer has been given.
    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)?
}
