import ArgumentParser
import Encodings
import JOSE
import Runtime

/// `gatehouse token inspect`: shows what a token contains. The signature is not checked, as there is no key. Exits with
/// status 1 only for a token that can't be parsed.
struct TokenInspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Decodes and explains a token, and checks it against RFC 8725.",
        discussion: "The signature is not checked: 'gatehouse token verify' does that, with a key.")

    @OptionGroup var input: TokenInput
    @Flag(help: "Answer as one JSON object.")
    var json = false

    func run() throws {
        do {
            let token = try input.parse()
            let now = Double(SystemClock.milliseconds()) / 1_000
            let inspection = TokenInspection(token: token, now: now)
            if json {
                Terminal.answer(TerminalJSON.text(.object(inspection.json)))
            } else {
                for line in inspection.lines { Terminal.answer(line) }
            }
        } catch let refusal as TokenRefusal {
            throw CommandFailure("the token can't be read: \(refusal.detail)")
        }
    }
}
