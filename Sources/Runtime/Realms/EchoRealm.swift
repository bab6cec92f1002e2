import Encodings

/// Answers with what it is given.
struct EchoRealm: Realm {
    let intents = ["echo"]

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        .result(.object(intent.params))
    }
}
