import Encodings

/// The metadata of a session: a small JSON object for its client.
enum SessionMetadata {
    /// An object without members.
    private static let none = "{}"

    /// Merges `patch` into `current`, member by member; null deletes.
    static func merge(_ patch: String, into current: String, limit: Int) throws(SessionFault) -> String {
        // The common case: no metadata.
        if patch == none, current == none, limit >= none.utf8.count { return none }
        var merged = try object(current, limit: limit)
        for (name, value) in try object(patch, limit: limit).members {
            merged[name] = value.isNull ? nil : value
        }
        let text = JSONValue.object(merged).serialized()
        guard text.utf8.count <= limit else { throw .invalidMetadata }
        return text
    }

    /// The stored metadata as an object; empty if it is malformed.
    static func stored(_ text: String) -> JSONObject {
        text == none ? JSONObject() : (try? StrictJSON.object(Array(text.utf8))) ?? JSONObject()
    }

    private static func object(_ text: String, limit: Int) throws(SessionFault) -> JSONObject {
        // With white space and escapes, the text sent may be longer than the text stored, up to a limit.
        guard text.utf8.count <= max(limit, 1_024) * 6 else { throw .invalidMetadata }
        do {
            return try StrictJSON.object(Array(text.utf8))
        } catch {
            throw .invalidMetadata
        }
    }
}
