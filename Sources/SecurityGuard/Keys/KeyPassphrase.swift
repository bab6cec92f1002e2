/// What encrypted key files are opened with, and new ones closed with. A secret: its description is its name.
package struct KeyPassphrase: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    package static let maximumBytes = 1_024
    /// The environment variable that holds it. No key of the configuration, so that nothing ever shows it.
    package static let variable = "GATEHOUSE_KEYS_PASSPHRASE"

    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) throws(GuardError) {
        guard Self.fits(bytes) else { throw GuardError(.keyPassphrase, Self.expected) }
        self.bytes = bytes
    }

    /// Reads a file that only its owner may read; one final newline of it is dropped.
    package init(file path: String) throws(GuardError) {
        var bytes = try PrivateFiles.read(path, limit: 65_536, ownerOnly: true)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard Self.fits(bytes) else { throw GuardError(.keyPassphrase, "\(path): \(Self.expected)") }
        self.bytes = bytes
    }

    private static let expected = "expected a passphrase of 1 to \(maximumBytes) bytes"

    private static func fits(_ bytes: [UInt8]) -> Bool { (1...maximumBytes).contains(bytes.count) }

    /// Why an encrypted key file was not opened, and what to set.
    ///
    /// - Parameters:
    ///   - file: the key file.
    ///   - given: what was tried.
    ///   - setting: the key or flag that names a file, which stands for the variable.
    package static func refusal(of file: String, given: KeyPassphrase?, setting: String) -> String {
        guard given != nil else { return "\(file) is encrypted: give its passphrase by \(variable) or \(setting)" }
        return "\(file) is encrypted, and not with this passphrase: correct \(variable) or \(setting)"
    }

    package var description: String { "KeyPassphrase" }
    /// Nothing: a dump of a passphrase would be a leak.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
