import Answers
import HTTPWire

/// A request's target as logs show it: ids of sessions, tokens, tickets and the values of parameters that carry
/// credentials are cut to their first eight characters and `…`.
package enum RedactedTarget {
    /// How many characters of a credential or id are shown.
    static let shown = 8
    /// How many bytes of a path or target are shown, except by the access log, which shows all of it.
    static let longestText = 512
    private static let ellipsis = Array("…".utf8)
    /// The parameters whose value is never shown whole, whatever it looks like.
    private static let parameters: Set<[UInt8]> = Set(
        [
            "access_token", "token", "ticket", "session_id", "session_token", "session_secret", "refresh_token",
            "id_token", "id_token_hint", "subject_token", "client_secret", "client_assertion", "code", "code_verifier",
            "state", "nonce", "password", "passwd", "pass", "pwd", "secret", "api_key", "apikey", "key", "assertion",
            "logout_token", "authorization", "bearer", "jwt",
        ].map { Array($0.utf8) })

    /// The path and the query of a request; nil for a target without a path, such as that of CONNECT.
    static func target(of head: RequestHead, canonical path: [UInt8]?) -> [UInt8]? {
        guard var target = shownPath(of: head, canonical: path) else { return nil }
        if let query = head.query {
            target.append(UInt8(ascii: "?"))
            target += head.withBytes(query) { redacted(query: Array($0)) }
        }
        return target
    }

    /// The path alone, as the audit log shows it: see ``text(of:)``.
    static func path(of head: RequestHead, canonical path: [UInt8]?) -> String? {
        shownPath(of: head, canonical: path).map(text(of:))
    }

    /// The text of a path or target whose credentials are shortened. Of a long one it is the first ``longestText``
    /// bytes and `…`: many of them are kept in memory.
    static func text(of target: [UInt8]) -> String {
        guard target.count > longestText else { return String(decoding: target, as: UTF8.self) }
        return String(decoding: target.prefix(longestText), as: UTF8.self) + "…"
    }

    private static func shownPath(of head: RequestHead, canonical path: [UInt8]?) -> [UInt8]? {
        if let path { return redacted(path: path) }
        let raw = head.withBytes(head.path) { Array($0) }
        return raw.isEmpty ? nil : redacted(path: raw)
    }

    /// A path with its credentials and ids shortened. Also used for a value alone. What it returns is for people: it
    /// need not be a valid path.
    package static func redacted(path: [UInt8]) -> [UInt8] {
        guard mayHoldSecret(path) else { return path }
        return redactedRuns(of: path)
    }

    /// A query, without its question mark, with its credentials and ids shortened.
    package static func redacted(query: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(query.count)
        for (index, pair) in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if index > 0 { result.append(UInt8(ascii: "&")) }
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                result += redacted(path: Array(pair))
                continue
            }
            let (name, value) = (pair[..<equals], Array(pair[pair.index(after: equals)...]))
            result += redacted(path: Array(name)) + [UInt8(ascii: "=")]
            if parameters.contains(lastWord(of: decoded(Array(name)))) {
                result += value.isEmpty ? [] : shortened(decoded(value))
            } else {
                result += redacted(path: value)
            }
        }
        return result
    }

    /// The last word of a parameter's name in lower case: `x[access_token]` and `a;access_token` are read by some
    /// upstreams as `access_token`.
    private static func lastWord(of name: [UInt8]) -> [UInt8] {
        name.split { !CredentialPrefix.isPart($0) }.last.map { $0.map(lower) } ?? []
    }

    /// A quick look, so that most paths need no copy.
    private static func mayHoldSecret(_ bytes: [UInt8]) -> Bool {
        var last: UInt8 = 0
        for byte in bytes {
            if byte == UInt8(ascii: "_") || byte == UInt8(ascii: "%") { return true }
            if last == UInt8(ascii: "e"), byte == UInt8(ascii: "y") { return true }
            last = byte
        }
        return false
    }

    /// Shortens every run of base64url characters and dots that is a credential or an id. What has none stays as it was
    /// sent; else escapes are shown as their characters.
    private static func redactedRuns(of bytes: [UInt8]) -> [UInt8] {
        let plain = decoded(bytes)
        var result: [UInt8] = []
        var run: [UInt8] = []
        var isChanged = false
        func endRun() {
            let start = secretStart(in: run)
            if let start {
                isChanged = true
                result += run[..<start] + shortened(Array(run[start...]))
            } else {
                result += run
            }
            run = []
        }
        for byte in plain {
            if CredentialPrefix.isPart(byte) {
                run.append(byte)
            } else {
                endRun()
                result.append(byte)
            }
        }
        endRun()
        return isChanged ? result : bytes
    }

    /// Where a credential begins in a run; nil where there is none.
    private static func secretStart(in run: [UInt8]) -> Int? {
        guard run.count > 4 else { return nil }
        if let start = CredentialPrefix.start(in: run[...]) { return start }
        // A compact JWS or JWE: an object in base64url, and at least two dots behind its beginning.
        var dots = 0
        var found: Int?
        for start in stride(from: run.count - 2, through: 0, by: -1) {
            if run[start] == UInt8(ascii: ".") { dots += 1 }
            guard dots >= 2, run[start...].starts(with: "ey".utf8) else { continue }
            let isWordStart = start == 0 || !isAlphanumeric(run[start - 1])
            if isWordStart || run[start...].starts(with: "eyJ".utf8) { found = start }
        }
        return found
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        CredentialPrefix.isPart(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "-")
            && byte != UInt8(ascii: "_")
    }

    /// The first characters and `…`; of a value that is no longer than these, only `…`.
    private static func shortened(_ value: [UInt8]) -> [UInt8] {
        (value.count > shown ? Array(value.prefix(shown)) : []) + ellipsis
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// The bytes with the escapes of visible characters and blanks decoded, also those that were encoded twice or three
    /// times, so that none of them hides a credential.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<3 {
            guard bytes.contains(UInt8(ascii: "%")) else { break }
            bytes = decodedOnce(bytes)
        }
        return bytes
    }

    private static func decodedOnce(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2]), (0x20...0x7E).contains(high << 4 | low)
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
