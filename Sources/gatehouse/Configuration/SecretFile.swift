/// A file that holds the value of a key, so that a secret need not stand in the configuration.
struct SecretFile: Sendable, Equatable {
    /// The key that names the file, such as `events[0].url_file`.
    let key: String
    /// The key whose value the file holds, such as `events[0].url`.
    let valueKey: String
    /// As it is written. It may be a secret by mistake, so messages have ``shownPath``.
    let path: String
    /// Where the file is named.
    let place: String
    /// The member whose value the file holds, of a key whose value is a mapping, such as `X-Api-Key`.
    var member: String?

    /// The path as messages name it.
    var shownPath: String { Self.shown(path) }

    /// A path as messages name it. What can't be a path may be the secret itself, given to the wrong key.
    static func shown(_ path: String) -> String {
        path.contains("/") && !path.contains("://") ? path : "the file"
    }

    /// The value in the file.
    ///
    /// - Parameter contents: reads a file; nil if it does not exist.
    /// - Throws: a fault of the key that names the file, if it can't be read or is empty.
    func read(_ contents: RouteReader.Files) throws(ConfigurationFault) -> String {
        let message: String
        do throws(ConfigurationFault) {
            if let bytes = try contents(path) {
                let value = Self.value(in: bytes)
                if !value.isEmpty { return value }
                // As while it is being written: without its credential, a route would be refused by its upstream.
                message = "\(shownPath): empty: put the value there"
            } else {
                message = "\(shownPath): no such file: correct the path, or create it"
            }
        } catch {
            message = error.message
        }
        throw ConfigurationFault(place: place, key: key, message: message)
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
