/// The passphrase of key files. Its description does not contain it.
package struct KeyPassphrase: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The longest passphrase.
    package static let maximumBytes = 1_024
    /// The environment variable with the passphrase. It is not a key of the configuration, so that `config show` cannot
    /// print it.
    package static let variable = "GATEHOUSE_KEYS_PASSPHRASE"

    /// The passphrase itself.
    package let bytes: [UInt8]

    /// - Throws: `keyPassphrase` for one that is empty or too long.
    package init(_ bytes: [UInt8]) throws(GuardError) {
        guard Self.fits(bytes) else { throw GuardError(.keyPassphrase, Self.expected) }
        self.bytes = bytes
    }

    /// Reads a file that only its owner may read. One final newline is dropped.
    package init(file path: String) throws(GuardError) {
        var bytes = try PrivateFiles.read(path, limit: 65_536, ownerOnly: true)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard Self.fits(bytes) else { throw GuardError(.keyPassphrase, "\(path): \(Self.expected)") }
        self.bytes = bytes
    }

    private static let expected = "expected a passphrase of 1 to \(maximumBytes) bytes"

    private static func fits(_ bytes: [UInt8]) -> Bool { (1...maximumBytes).contains(bytes.count) }

    /// The message for an encrypted key file that could not be decrypted.
    ///
    /// - Parameters:
    ///   - file: the key file.
    ///   - given: the passphrase that was tried, or nil.
    ///   - setting: the key or flag that names a passphrase file.
    package static func refusal(of file: String, given: KeyPassphrase?, setting: String) -> String {
        guard given != nil else { return "\(file) is encrypted: give its passphrase by \(variable) or \(setting)" }
        return "\(file) is encrypted, and not with this passphrase: correct \(variable) or \(setting)"
    }

    package var description: String { "KeyPassphrase" }
    /// Empty, so that `dump` does not show the passphrase.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
