import Encodings
import JOSE

/// The file `keyring.json`: the file of each key, and when it was published, begins to sign, and was retired.
enum KeyIndex {
    static let fileName = "keyring.json"
    static let maximumBytes = 262_144

    static func serialize(_ entries: [KeyEntry]) -> [UInt8] {
        let keys = entries.map { entry -> JSONValue in
            var object: JSONObject = [
                "kid": .string(entry.keyID),
                "file": .string(entry.file),
                "algorithm": .string(entry.algorithm.rawValue),
                "published_at": .integer(entry.publishedAt),
            ]
            object["first_use_at"] = entry.firstUseAt.map(JSONValue.integer) ?? .null
            object["retired_at"] = entry.retiredAt.map(JSONValue.integer) ?? .null
            return .object(object)
        }
        let root: JSONObject = ["version": .integer(1), "keys": .array(keys)]
        return JSONValue.object(root).serializedBytes() + [UInt8(ascii: "\n")]
    }

    static func parse(_ bytes: [UInt8], path: String) throws(GuardError) -> [KeyEntry] {
        let limits = JSONLimits(maxBytes: maximumBytes)
        guard let root = try? StrictJSON.object(bytes, limits: limits), root["version"]?.int64Value == 1,
            let keys = root["keys"]?.arrayValue
        else { throw damaged(path) }
        var entries: [KeyEntry] = []
        for key in keys {
            guard let entry = key.objectValue.flatMap(entry(from:)) else { throw damaged(path) }
            entries.append(entry)
        }
        return entries
    }

    private static func entry(from object: JSONObject) -> KeyEntry? {
        guard let keyID = object["kid"]?.stringValue, NameRule.isVisible(keyID),
            let file = object["file"]?.stringValue, isFileName(file),
            let algorithm = object["algorithm"]?.stringValue.flatMap(SignatureAlgorithm.init(name:)),
            let publishedAt = object["published_at"]?.int64Value,
            let firstUseAt = time(object["first_use_at"]), let retiredAt = time(object["retired_at"])
        else { return nil }
        return KeyEntry(
            keyID: keyID, file: file, algorithm: algorithm, publishedAt: publishedAt, firstUseAt: firstUseAt.value,
            retiredAt: retiredAt.value)
    }

    /// Reads an optional time. Nil if the value is malformed; a tuple with nil if there is no time.
    private static func time(_ value: JSONValue?) -> (value: Int64?, Void)? {
        switch value {
        case nil, .null: (nil, ())
        default: value?.int64Value.map { ($0, ()) }
        }
    }

    /// Whether the text is a file name in the directory and not a path.
    static func isFileName(_ name: String) -> Bool {
        !name.utf8.isEmpty && name.utf8.count <= 255 && !name.utf8.contains(UInt8(ascii: "/"))
            && !name.utf8.contains(0) && name.utf8.first != UInt8(ascii: ".")
    }

    private static func damaged(_ path: String) -> GuardError {
        GuardError(.keyFile, "\(path) is damaged; restore it, or remove it to start from the PEM files alone")
    }
}
