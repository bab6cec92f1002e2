/// A file that holds the value of a key, so that a secret need not stand in the configuration.
struct SecretFile: Sendable, Equatable {
    /// The key that names the file, such as `events[0].url_file`.
    let key: String
    /// The key whose value the file holds, such as `events[0].url`.
    let valueKey: String
    let path: String
    /// Where the file is named.
    let place: String

    /// The path as messages name it.
    var shownPath: String { Self.shown(path) }

    /// A path as messages name it. What can't be a path may be the secret itself, given to the wrong key.
    static func shown(_ path: String) -> String {
        path.contains("/") && !path.contains("://") ? path : "the file"
    }

    /// The value in a file: its bytes without one final newline, which editors leave.
    static func value(in bytes: [UInt8]) -> String {
        var value = bytes[...]
        if value.last == UInt8(ascii: "\n") {
            value.removeLast()
            if value.last == UInt8(ascii: "\r") { value.removeLast() }
        }
        return String(decoding: value, as: UTF8.self)
    }
}

extension [SecretFile] {
    /// The file that holds the value of a key, such as `events[0].url`; nil if none does.
    func file(of valueKey: String) -> SecretFile? { first { $0.valueKey == valueKey } }
}
