import Encodings

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
