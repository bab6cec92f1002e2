import Answers
import Encodings
import Runtime

/// Shortens everything in an audit line that looks like a credential or a session id.
///
/// Callers should not pass such values. If one does by mistake, the log contains only the first characters, which are
/// enough to find the value again.
enum AuditScrub {
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
        guard text.withBytes(mayHoldCredential) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        // What stands before this is in the result.
        var done = 0
        var rest = bytes[...]
        while let start = rest.firstIndex(where: CredentialPrefix.isPart) {
            let run = rest[start...].prefix(while: CredentialPrefix.isPart)
            if let end = shownEnd(of: run) {
                result += bytes[done..<end]
                result += "…".utf8
                done = run.endIndex
            }
            rest = bytes[run.endIndex...]
        }
        guard done > 0 else { return text }
        result += bytes[done...]
        return String(decoding: result, as: UTF8.self)
    }

    /// A quick look, so that most texts need no copy: every prefix ends in `_`, and a token has two dots.
    private static func mayHoldCredential(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var dots = 0
        for byte in bytes {
            if byte == UInt8(ascii: "_") { return true }
            if byte == UInt8(ascii: ".") { dots += 1 }
        }
        return dots >= 2
    }

    /// Where the shown beginning of what is or contains a credential ends; nil for anything else.
    private static func shownEnd(of run: ArraySlice<UInt8>) -> Int? {
        if run.count == referenceLength, run.starts(with: SessionID.prefix.utf8) { return nil }
        if let start = CredentialPrefix.start(in: run) {
            // Shortened before: the ellipsis stands behind it.
            return run.endIndex - start <= kept ? nil : start + kept
        }
        let isUsualToken = run.starts(with: "eyJ".utf8) && run.count(where: { $0 == UInt8(ascii: ".") }) >= 2
        return isUsualToken || hasFormOfToken(run) ? run.prefix(kept).endIndex : nil
    }

    /// Whether a run is as long in its parts as a compact JWS or JWE. The header of one may begin with white space, and
    /// then not with `eyJ`. Host names and versions have shorter parts, or more of them.
    private static func hasFormOfToken(_ run: ArraySlice<UInt8>) -> Bool {
        // A full stop may end the sentence.
        let token = run.last == UInt8(ascii: ".") ? run.dropLast() : run
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        let lengths = parts.map(\.count)
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
}
