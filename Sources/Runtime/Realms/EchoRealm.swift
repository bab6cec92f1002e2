import Encodings

/// The intent `echo`, which returns its parameters.
struct EchoRealm: Realm {
    let intents = ["echo"]

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        .result(.object(intent.params))
    }
}
