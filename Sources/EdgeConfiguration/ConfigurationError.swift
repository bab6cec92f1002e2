/// A setting that can't be used. Errors of the same code are equal.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The address can't be read as `HOST:PORT`.
        case addressUnreadable = "address_unreadable"
        /// The passphrase is empty, or longer than 1024 bytes.
        case passphraseLength = "passphrase_length"
        /// The name or the value of a header field that a route sets contains forbidden bytes.
        case headerMalformed = "header_malformed"
        /// A number that is too small or too large.
        case outOfBounds = "out_of_bounds"
    }

    /// What is wrong with it.
    public let code: Code
    /// The key of the setting, as in the configuration file. For the passphrase, which is in no file, it is
    /// `keys.passphrase`.
    public let key: String
    /// The allowed range, for ``Code/outOfBounds``.
    private let bounds: String

    init(_ code: Code, key: String, bounds: String = "") {
        self.code = code
        self.key = key
        self.bounds = bounds
    }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// One sentence for the operator; the value itself is not repeated.
    public var description: String {
        switch code {
        case .addressUnreadable: "\(key): write HOST:PORT, or [IPv6]:PORT"
        case .passphraseLength: "\(key): give 1 to 1024 bytes, or none at all"
        case .headerMalformed: "\(key): expected a field name such as X-Api-Key and a value of visible ASCII"
        case .outOfBounds: "\(key): expected \(bounds)"
        }
    }
}
