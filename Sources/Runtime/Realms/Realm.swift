import Encodings

/// Code that carries out intents: the only code that touches data on behalf of a session.
///
/// Adopters add one by conforming a type and handing it to the gateway. The intent has been recorded before
/// ``perform(_:in:)`` is called, its outcome is recorded after; an intent is never run twice.
public protocol Realm: Sendable {
    /// The names of the intents that this realm carries out, such as `orders.create`.
    var intents: [String] { get }

    /// Carries out one intent, with the rights of the session in `context` and no others.
    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome
}

/// One thing that a client wants done.
public struct Intent: Sendable, Equatable {
    /// The client's name for this one, unique in its session.
    public let id: String
    /// What is to be done.
    public let name: String
    /// With what. Written by the client: hostile until checked.
    public let params: JSONObject

    /// An intent as the Runtime hands it over, for the tests of a realm: nothing is checked here.
    public init(id: String, name: String, params: JSONObject = JSONObject()) {
        self.id = id
        self.name = name
        self.params = params
    }
}

/// What came of an intent.
public enum RealmOutcome: Sendable, Equatable {
    /// It was done; this is the answer.
    case result(JSONValue)
    /// It was not done. The code is for programs, the message for people; neither may hold a secret.
    case failure(code: String, message: String)

    /// What the intent rests on can't be reached now: it may be sent again under another id.
    public static let storeUnavailable = RealmOutcome.failure(
        code: "store_unavailable", message: "The store can't be reached.")
    /// There is none, or it is somebody else's: the two must look alike.
    public static let notFound = RealmOutcome.failure(code: "not_found", message: "There is no such thing.")

    /// The parameters are not what this intent takes.
    public static func invalid(_ message: String) -> RealmOutcome {
        .failure(code: "invalid_request", message: message)
    }
}
