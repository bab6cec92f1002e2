import Foundation

/// A secret that `gatehouse attack` takes from the environment: from the variable itself, or from the file that the
/// variable `NAME_FILE` names.
struct AttackVariable: Sendable {
    /// Of the variable with the value itself.
    let name: String

    /// Of the variable that names a file with the value instead.
    private var fileName: String { name + "_FILE" }

    /// The secret without one final newline, which editors leave in files; nil if it is not given or empty.
    ///
    /// - Parameters:
    ///   - environment: the variables.
    ///   - read: reads a file; nil if it does not exist.
    /// - Throws: where both are given, or the file can't be read or is empty.
    func value(
        in environment: [String: String] = ProcessInfo.processInfo.environment,
        read: (String) throws(CommandFailure) -> [UInt8]? = AttackVariable.file
    ) throws(CommandFailure) -> String? {
        let value = environment[name].flatMap { $0.isEmpty ? nil : $0 }
        guard let path = environment[fileName], !path.isEmpty else { return value }
        if value != nil {
            throw CommandFailure("\(name) and \(fileName) are both set: give one of the two", status: .misused)
        }
        let found: [UInt8]?
        do throws(CommandFailure) {
            found = try read(path)
        } catch {
            throw CommandFailure("\(fileName): \(error.description)", status: .misused)
        }
        guard let bytes = found else {
            let message = "\(fileName): \(path): no such file: correct the path, or create it"
            throw CommandFailure(message, status: .misused)
        }
        let text = SecretFile.value(in: bytes)
        guard !text.isEmpty else {
            throw CommandFailure("\(fileName): \(path): empty: put the secret there", status: .misused)
        }
        return text
    }

    /// Reads a file; nil if it does not exist.
    static func file(_ path: String) throws(CommandFailure) -> [UInt8]? {
        try FileBytes.read(path, limit: TokenInput.limit)
    }
}
