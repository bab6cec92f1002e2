import Glibc

/// Reads a password from a terminal without echo, or from standard input.
enum PasswordPrompt {
    private static let limit = 1_024

    /// Asks twice on a terminal. With `fromInput`, the password is all of standard input without one final newline.
    static func password(fromInput: Bool) throws(CommandFailure) -> String {
        if fromInput { return try checked(try Terminal.input(limit: limit + 1)) }
        guard Terminal.isInteractive else {
            throw CommandFailure("no terminal to ask for the password: pipe it in and add --password-stdin")
        }
        let first = try ask("Password: ")
        guard try ask("Again: ").utf8.elementsEqual(first.utf8) else {
            throw CommandFailure("the two passwords differ: try again")
        }
        return first
    }

    /// The password in the bytes, without a line feed at the end.
    private static func checked(_ bytes: [UInt8]?) throws(CommandFailure) -> String {
        guard var bytes else { throw CommandFailure("the password is longer than \(limit) bytes") }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw CommandFailure("the password is empty: pipe one in") }
        guard bytes.count <= limit else { throw CommandFailure("the password is longer than \(limit) bytes") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure("the password is not UTF-8")
        }
        return text
    }

    /// Asks at the terminal, without showing what is typed.
    private static func ask(_ prompt: String) throws(CommandFailure) -> String {
        Terminal.write(prompt, to: STDERR_FILENO)
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw CommandFailure("the terminal can't hide what is typed: use --password-stdin")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            Terminal.write("\n", to: STDERR_FILENO)
        }
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count <= limit + 1, Glibc.read(STDIN_FILENO, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        return try checked(bytes)
    }
}
