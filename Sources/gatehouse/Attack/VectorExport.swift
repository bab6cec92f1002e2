import Encodings
import HostileTokens

/// `--export FILE`: the tokens of the selected cases, for suites in other languages.
enum VectorExport {
    /// Writes the tokens of those cases that are one. Throws where none is, or the file can't be written.
    static func write(_ cases: [HostileCase], to path: String) throws {
        let attacks = cases.compactMap { hostile -> Attack? in
            if case .token(let attack) = hostile { attack } else { nil }
        }
        guard !attacks.isEmpty else {
            throw CommandFailure("no token is selected: --export writes those of family J and S03", status: .misused)
        }
        let file = try TokenVectors.file(attacks, now: SystemClock.milliseconds() / 1_000)
        try OutputFile(path: path).write(file.serialized() + "\n")
        let sets = file["sets"]?.arrayValue ?? []
        let count = sets.reduce(0) { $0 + ($1.objectValue?["vectors"]?.arrayValue?.count ?? 0) }
        Terminal.notice(ErrorText.oneLine("\(path): \(count) tokens in \(sets.count) sets"))
    }
}
