import ArgumentParser
import Foundation
import SecurityGuard

/// The passphrase for an encrypted `--key`: from the file that is named, or else from the variable that is also used
/// for the gateway's own keys.
struct KeyPassphraseOption: ParsableArguments {
    /// The name of the option in messages.
    static let flag = "--passphrase-file"

    @Option(
        help: .init(
            "A file with the passphrase of --key. Default: what GATEHOUSE_KEYS_PASSPHRASE holds.", valueName: "file"))
    var passphraseFile: String?

    /// Reads the passphrase; nil if none was given.
    func read() throws(CommandFailure) -> KeyPassphrase? {
        let source = passphraseFile == nil ? KeyPassphrase.variable : Self.flag
        do throws(GuardError) {
            if let passphraseFile { return try KeyPassphrase(file: passphraseFile) }
            guard let text = ProcessInfo.processInfo.environment[KeyPassphrase.variable] else { return nil }
            return try KeyPassphrase(Array(text.utf8))
        } catch {
            throw CommandFailure("\(source): \(error.message)", status: .misused)
        }
    }
}
