/// Code that carries out intents. Only realms access data on behalf of a session.
///
/// To add one, pass a conforming type to the gateway. The intent is recorded before ``perform(_:in:)`` is called and
/// its outcome afterwards, and an intent never runs twice.
public protocol Realm: Sendable {
    /// The names of the intents that this realm carries out, such as `orders.create`.
    var intents: [String] { get }

    /// What clients are told of the intents, for those of which something is to be said.
    var descriptions: [IntentDescription] { get }

    /// Carries out one intent, with the rights of the session in `context` and no others.
    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome
}

extension Realm {
    /// Nothing but the names.
    public var descriptions: [IntentDescription] { [] }
}
