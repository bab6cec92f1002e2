import Encodings

/// The small JSON object that a session carries for its client.
enum SessionMetadata {
    /// An object without members.
    private static let none = "{}"

    /// Merges `patch` into `current`, member by member; null deletes.
    static func merge(_ patch: String, into current: String, limit: Int) throws(SessionFault) -> String {
        // What most sessions carry, before and after.
        if patch == self.none, current == self.none, limit >= self.none.utf8.count { return self.none }
        var merged = try self.object(current, limit: limit)
        for (name, value) in try self.object(patch, limit: limit).members {
            merged[name] = value.isNull ? nil : value
        }
        let text = JSONValue.object(merged).serialized()
        guard text.utf8.count <= limit else { throw .invalidMetadata }
        return text
    }

    /// What is stored was checked when it was stored; should it be unreadable all the same, the client sees none.
    static func stored(_ text: String) -> JSONObject {
        text == self.none ? JSONObject() : (try? StrictJSON.object(Array(text.utf8))) ?? JSONObject()
    }

    private static func object(_ text: String, limit: Int) throws(SessionFault) -> JSONObject {
        // White space and escapes may make what was sent longer than what is kept, but not without end.
        guard text.utf8.count <= max(limit, 1_024) * 6 else { throw .invalidMetadata }
        do {
            return try StrictJSON.object(Array(text.utf8))
        } catch {
            throw .invalidMetadata
        }
    }
}
