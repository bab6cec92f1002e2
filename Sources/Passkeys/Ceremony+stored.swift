import Encodings

extension Ceremony {
    /// Everything but the hash of the challenge, as the text that is stored beside it.
    package var stored: String {
        var object: JSONObject = [
            "kind": .string(kind.rawValue), "session": .string(sessionID), "epoch": .integer(sessionEpoch),
            "at": .integer(createdAt),
        ]
        object["user"] = userID.map(JSONValue.string)
        return object.serialized()
    }

    /// Reads the stored form; nil if it is not one.
    package init?(challengeHash: [UInt8], stored: [UInt8]) {
        guard let object = try? StrictJSON.object(stored),
            let kind = object["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
            let sessionID = object["session"]?.stringValue, let sessionEpoch = object["epoch"]?.int64Value,
            let createdAt = object["at"]?.int64Value
        else { return nil }
        self.init(
            kind: kind, challengeHash: challengeHash, sessionID: sessionID, sessionEpoch: sessionEpoch,
            userID: object["user"]?.stringValue, createdAt: createdAt)
    }
}
