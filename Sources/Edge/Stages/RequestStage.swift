import Answers
import EdgeCore
import Gate
import HTTPWire

/// How one kind of target answers a request. ``Dispatcher`` runs the steps in order.
protocol RequestStage {
    /// Runs the stage.
    var dispatcher: Dispatcher { get }
    /// The request, after the checks of its form.
    var request: EdgeRequest { get }

    /// Puts a refusal into the form that the target's clients understand, and answers with it.
    func refuse(_ problem: Problem)
}

extension RequestStage {
    /// The connection that the request came on.
    var connection: EdgeConnection { dispatcher.connection }
    /// What every connection shares.
    var services: EdgeServices { dispatcher.services }
    /// The state of the connection's event loop.
    var loop: LoopState { dispatcher.loop }
    /// The request's head.
    var head: RequestHead { request.head }
}

/// A stage behind the gate.
protocol GatedStage: RequestStage {
    /// Goes on with a request that was admitted.
    ///
    /// - Returns: the exchange that takes the body, or nil when the answer has been given.
    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)?
}

extension GatedStage {
    /// The fields that tell the route's upstream who is asking.
    ///
    /// - Parameter isRuntime: whether the upstream is the external Runtime.
    /// - Throws: `overloaded` where no assertion can be signed.
    func identity(
        of admission: Admission, at route: Route, isRuntime: Bool = false, now: Int64
    ) throws(Problem) -> FieldLines {
        do {
            return try dispatcher.snapshot.identityMaker.identity(
                of: admission, at: .init(route, isRuntime: isRuntime), now: now)
        } catch {
            throw Problem(.overloaded, reason: "assertion_failed")
        }
    }
}
