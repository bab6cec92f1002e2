import TrafficCop

/// What a sign-in did to which session.
package enum SignInPlan: Sendable {
    /// An anonymous session got its owner: same id, new secret.
    case upgrade(SignInTarget)
    /// The owner's session got a new family: same id, new secret, next epoch; the family that was at home there is dead.
    case resume(SignInTarget)
    /// A new session was made.
    case create

    /// The word for it: `upgraded`, `resumed`, `created`.
    package var word: String {
        switch self {
        case .upgrade: "upgraded"
        case .resume: "resumed"
        case .create: "created"
        }
    }

    var target: SignInTarget? {
        switch self {
        case .upgrade(let target), .resume(let target): target
        case .create: nil
        }
    }

    var intentKind: SessionIntent.Kind {
        switch self {
        case .upgrade: .upgrade
        case .resume: .resume
        case .create: .authenticated
        }
    }
}
