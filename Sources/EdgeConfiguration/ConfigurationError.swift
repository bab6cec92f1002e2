/// A setting that can't be used. Equal to another error of the same code.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// It is no `HOST:PORT`.
        case addressUnreadable = "address_unreadable"
        /// It is empty, or longer than 1024 bytes.
        case passphraseLength = "passphrase_length"
        /// The name or the value of a header field that a route sets has bytes that no field may have.
        case headerMalformed = "header_malformed"
        /// A number that is too small or too large.
        case outOfBounds = "out_of_bounds"
    }

    /// What is wrong with it.
    public let code: Code
    /// The key of the setting, as the configuration file has it; of the passphrase, which stands in no file,
    /// `keys.passphrase`.
    public let key: String
    /// What it has to be, for ``Code/outOfBounds``.
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
