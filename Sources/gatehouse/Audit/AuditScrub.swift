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

    /// The value, with every text in it cleaned.
    private static func clean(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(clean(text))
        case .array(let values): .array(values.map { clean($0) })
        case .object(let object): .object(clean(object))
        case .null, .bool, .number: value
        }
    }

    /// Shortens every run of base64url characters and dots that begins like a credential or is a compact JWS or JWE.
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

    /// The beginning of what is or contains a credential; anything else as it is.
    private static func shortened(_ run: String) -> String {
        if run.hasPrefix("ses_"), run.utf8.count == referenceLength { return run }
        if let start = prefixes.compactMap({ run.firstRange(of: $0)?.lowerBound }).min() {
            // Shortened before: the ellipsis stands behind it.
            if run[start...].count <= kept { return run }
            return String(run[..<start]) + String(run[start...].prefix(kept)) + "…"
        }
        let isUsualToken = run.hasPrefix("eyJ") && run.utf8.count(where: { $0 == UInt8(ascii: ".") }) >= 2
        return isUsualToken || hasFormOfToken(run) ? "\(run.prefix(kept))…" : run
    }

    /// Whether a run is as long in its parts as a compact JWS or JWE. The header of one may begin with white space, and
    /// then not with `eyJ`. Host names and versions have shorter parts, or more of them.
    private static func hasFormOfToken(_ run: String) -> Bool {
        // A full stop may end the sentence.
        let token = run.hasSuffix(".") ? run.dropLast() : run[...]
        let lengths = token.split(separator: ".", maxSplits: 5, omittingEmptySubsequences: false).map(\.utf8.count)
        guard let header = lengths.first, let last = lengths.last, header >= 16 else { return false }
        switch lengths.count {
        case 3:
            // The content may be detached, and the shortest signature has 43 characters.
            let content = lengths.dropFirst().first ?? 0
            return (content == 0 || content >= 16) && last >= 32
        case 5:
            // The key may be agreed upon, and the content short. The shortest IV has 16 characters, the tag 22.
            return lengths.dropFirst(2).first ?? 0 >= 16 && last >= 22
        default: return false
        }
    }

    /// Whether a credential can contain the character.
    private static func isPart(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
    }
}
