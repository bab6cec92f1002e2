import Encodings

/// Where a person is brought back to after signing in: a path of this origin, with an optional query.
///
/// Browsers read a `Location` leniently, and what is lenient here is an open redirect: `//host` and `/\host` name
/// another host, tabs and line feeds are dropped before the rest is read, and some servers decode a path before they
/// redirect to it. So only one plain spelling is accepted.
package struct ReturnTo: Sendable, Equatable, CustomStringConvertible {
    /// The longest value, in bytes.
    package static let maximumBytes = 8000
    /// Where nothing is said.
    package static let root = ReturnTo(unchecked: "/")

    /// Path and query.
    package let text: String

    private init(unchecked text: String) { self.text = text }

    /// Judges a value; nil if it is anything but a path of this origin with an optional query.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes, bytes.first == UInt8(ascii: "/"), bytes.allSatisfy(Self.isAllowed),
            Self.hasSoundEscapes(bytes)
        else { return nil }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        guard Self.isPlain(path) else { return nil }
        self.text = text
    }

    /// Path and query.
    package var description: String { text }

    /// The same place with `login_error`, which says why the sign-in failed; an earlier `login_error` is dropped.
    package func adding(_ error: LoginError) -> String {
        let (path, query) = withoutErrorParts
        return path + "?" + (query + ["\(LoginError.parameter)=\(error.rawValue)"]).joined(separator: "&")
    }

    /// The same place without the `login_error` of an earlier attempt.
    package var withoutError: String {
        guard text.contains(LoginError.parameter) else { return text }
        let (path, query) = withoutErrorParts
        return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
    }

    private var withoutErrorParts: (path: String, query: [String]) {
        let bytes = Array(text.utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let kept = bytes.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")).filter { pair in
            !pair.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(LoginError.parameter.utf8)
        }
        return (String(decoding: path, as: UTF8.self), kept.map { String(decoding: $0, as: UTF8.self) })
    }

    /// Equality of the bytes.
    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Visible ASCII but `\` and `#`, and what no URL may contain.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\\#\"<>^`{|}".utf8.contains(byte)
    }

    /// Whether each `%` has two hexadecimal digits behind it.
    private static func hasSoundEscapes(_ bytes: [UInt8]) -> Bool {
        bytes.indices.allSatisfy { at in
            bytes[at] != UInt8(ascii: "%")
                || (at + 2 < bytes.count && FormText.hexValue(bytes[at + 1]) != nil
                    && FormText.hexValue(bytes[at + 2]) != nil)
        }
    }

    /// Whether a path stays one path of this origin, decoded or not: no empty first segment, no dot segments, no
    /// escaped slash at its beginning, no escaped backslash or control character anywhere.
    private static func isPlain(_ path: ArraySlice<UInt8>) -> Bool {
        var decoded: [UInt8] = []
        var rest = path
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let high = rest.popFirst().flatMap(FormText.hexValue),
                let low = rest.popFirst().flatMap(FormText.hexValue)
            else {
                decoded.append(byte)
                continue
            }
            let value = high << 4 | low
            guard value >= 0x20, value != 0x7F, value != UInt8(ascii: "\\") else { return false }
            decoded.append(value)
        }
        guard !decoded.starts(with: "//".utf8) else { return false }
        return decoded.split(separator: UInt8(ascii: "/")).allSatisfy { segment in
            !segment.elementsEqual(".".utf8) && !segment.elementsEqual("..".utf8)
        }
    }
}

/// What a page is told about a sign-in that came to nothing, as `login_error` in the query of `return_to`.
package enum LoginError: String, Sendable, CaseIterable {
    /// The provider or the rules refused.
    case refused = "login_refused"
    /// The provider could not be reached, or what it said is not acceptable.
    case providerUnavailable = "provider_unavailable"
    /// The session belongs to another person.
    case sessionConflict = "session_conflict"

    /// The name of the parameter.
    package static let parameter = "login_error"
}
