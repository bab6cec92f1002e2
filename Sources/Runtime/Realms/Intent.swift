import Encodings

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
