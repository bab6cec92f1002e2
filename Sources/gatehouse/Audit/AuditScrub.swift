import Encodings

/// Shortens everything in an audit line that looks like a credential or a session id.
///
/// Callers should not pass such values. If one does by mistake, the log contains only the first characters, which are
/// enough to find the value again.
enum AuditScrub {
    private static let prefixes = ["sec_", "ref_", "tkt_", "ses_", "cls_"]
    private static let kept = 8
    /// How a session is named in the log: `ses_` and eight characters.
    private static let referenceLength = 12

    /// The members with every such text shortened.
    static func clean(_ members: JSONObject) -> JSONObject {
        var cleaned = JSONObject()
        for (name, value) in members.members { cleaned[name] = clean(value) }
        return cleaned
    }

    private static func clean(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(clean(text))
        case .array(let values): .array(values.map { clean($0) })
        case .object(let object): .object(clean(object))
        case .null, .bool, .number: value
        }
    }

    /// Shortens every run of base64url characters and dots that begins like a credential or is a compact JWS.
    static func clean(_ text: String) -> String {
        var result = ""
        var run = ""
        for character in text {
            if isPart(character) {
                run.append(character)
            } else {
                result += shortened(run)
                result.append(character)
                run = ""
            }
        }
        return result + shortened(run)
    }

    private static func shortened(_ run: String) -> String {
        if run.hasPrefix("ses_"), run.utf8.count == referenceLength { return run }
        if let start = prefixes.compactMap({ run.firstRange(of: $0)?.lowerBound }).min() {
            // Shortened before: the ellipsis stands behind it.
            if run[start...].count <= kept { return run }
            return String(run[..<start]) + String(run[start...].prefix(kept)) + "…"
        }
        let isToken = run.hasPrefix("eyJ") && run.utf8.count(where: { $0 == UInt8(ascii: ".") }) >= 2
        return isToken ? "\(run.prefix(kept))…" : run
    }

    private static func isPart(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
    }
}
