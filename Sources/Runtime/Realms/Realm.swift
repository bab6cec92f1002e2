import Encodings

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

/// A request of a client to a realm.
public struct Intent: Sendable, Equatable {
    /// The id, chosen by the client and unique in its session.
    public let id: String
    /// The name of the intent, such as `orders.create`.
    public let name: String
    /// The parameters. They come from the client and have not been checked.
    public let params: JSONObject

    /// An intent for testing a realm. Nothing is checked.
    public init(id: String, name: String, params: JSONObject = JSONObject()) {
        self.id = id
        self.name = name
        self.params = params
    }
}

/// The outcome of an intent.
public enum RealmOutcome: Sendable, Equatable {
    /// It was carried out, with this result.
    case result(JSONValue)
    /// It was not carried out. The code is for programs, the message for people; neither may contain a secret.
    case failure(code: String, message: String)

    /// A store that the intent needs cannot be reached. It may be sent again under another id.
    public static let storeUnavailable = RealmOutcome.failure(
        code: "store_unavailable", message: "The store can't be reached.")
    /// It does not exist, or belongs to another user. Both must get the same answer.
    public static let notFound = RealmOutcome.failure(code: "not_found", message: "There is no such thing.")

    /// The parameters are not valid for this intent.
    public static func invalid(_ message: String) -> RealmOutcome {
        .failure(code: "invalid_request", message: message)
    }
}
