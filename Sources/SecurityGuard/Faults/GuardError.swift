/// Why keys, issuers or settings cannot be used.
package struct GuardError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What the fault is in.
    package enum Code: String, Sendable {
        case keyFile, keyPermissions, keyPassphrase, keyDirectory, keyUnknown, keyState, foreignKeys, issuer, policy
    }
    /// What the fault is in.
    package let code: Code
    /// One sentence for the operator: what is wrong, and how to fix it.
    package let message: String
    /// The error that caused this one, if any.
    package let cause: (any Error)?
    private let file: StaticString
    private let line: UInt

    /// - Parameters:
    ///   - file: where the error was made, as `MODULE/FILE`.
    ///   - line: the line of that file.
    package init(
        _ code: Code, _ message: String, cause: (any Error)? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.file = file
        self.line = line
    }

    /// Equality of the codes; messages are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// The message.
    package var description: String { message }

    /// Code, message, cause and the place in the source code.
    package var debugDescription: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(code.rawValue): \(message)\(cause) at \(file):\(line)"
    }
}
