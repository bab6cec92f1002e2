import ArgumentParser
import Foundation
import SecurityGuard

/// What opens an encrypted `--key`: a file that is named, else the variable that opens the gateway's own keys.
struct KeyPassphraseOption: ParsableArguments {
    /// How messages call it.
    static let flag = "--passphrase-file"

    @Option(
        help: .init(
            "A file with the passphrase of --key. Default: what GATEHOUSE_KEYS_PASSPHRASE holds.", valueName: "file"))
    var passphraseFile: String?

    /// Nil where none was given, as for a key in the clear.
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
