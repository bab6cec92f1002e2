import TrafficCop

/// What a sign-in does with which session.
package enum SignInPlan: Sendable {
    /// An anonymous session gets its owner: same id, new secret.
    case upgrade(SignInTarget)
    /// The owner's session gets a new family: same id, new secret, next epoch. The family that was at home there ends.
    case resume(SignInTarget)
    /// A new session is created.
    case create

    /// The name in the API: `upgraded`, `resumed` or `created`.
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
