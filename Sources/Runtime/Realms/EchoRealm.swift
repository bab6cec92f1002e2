import Encodings

/// The intent `echo`, which returns its parameters.
struct EchoRealm: Realm {
    let intents = ["echo"]
    let descriptions = [IntentDescription(name: "echo", summary: "Returns its parameters.")]

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        .result(.object(intent.params))
    }
}
