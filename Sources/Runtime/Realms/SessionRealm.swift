import Encodings
import StateSurface

/// The intent `session.describe`, which returns the session.
struct SessionRealm: Realm {
    let intents = ["session.describe"]
    let descriptions = [IntentDescription(name: "session.describe", summary: "Describes the session.")]

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        do {
            guard let record = try await context.store.session(id: context.sessionID) else { return .notFound }
            return .result(.object(SessionSnapshot(context.uses.apply(to: record)).json()))
        } catch {
            return .storeUnavailable
        }
    }
}
