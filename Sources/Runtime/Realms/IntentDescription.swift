import Encodings

/// What clients that list intents are told of one, such as agents that see intents as tools.
public struct IntentDescription: Sendable, Equatable {
    /// The name of the intent.
    public let name: String
    /// What it does, in a sentence or two; empty if nothing is said.
    public let summary: String
    /// The JSON Schema of its parameters, which is that of an object. It is told and not enforced.
    public let parameters: JSONObject

    /// A description; without `parameters` any object is allowed.
    public init(name: String, summary: String = "", parameters: JSONObject = ["type": "object"]) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
    }

    /// A description with parameters that have types, of which some are required.
    package init(
        name: String, summary: String, _ properties: JSONObject, required: [String] = []
    ) {
        var parameters: JSONObject = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { parameters["required"] = .array(required.map { .string($0) }) }
        self.init(name: name, summary: summary, parameters: parameters)
    }
}
