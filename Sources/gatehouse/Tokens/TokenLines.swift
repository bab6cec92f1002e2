import Encodings
import Glibc
import JOSE

/// Verifies tokens from standard input, one per line, for test vectors and for comparing verifiers.
struct TokenLines {
    let judgement: TokenJudgement
    /// Seconds since 1970.
    let now: Double
    /// Whether each line is answered with a JSON object, not with words.
    let json: Bool

    /// Results are written in pieces of about this many bytes.
    private static let pieceBytes = 65_536

    /// Writes a result for each line of standard input, in order. True if all tokens were verified.
    func judgeInput() throws(CommandFailure) -> Bool {
        var isAllGood = true
        var answers = ""
        // Of a line that is too long, only as much is kept as shows that it is.
        var line: [UInt8] = []
        var hasLine = false
        /// Judges the line that is complete.
        func finishLine() {
            let (answer, isGood) = answer(to: line)
            answers += answer + "\n"
            isAllGood = isAllGood && isGood
            line.removeAll(keepingCapacity: true)
            hasLine = false
        }
        while let bytes = try Self.piece() {
            for byte in bytes {
                if byte == 0x0A {
                    finishLine()
                } else {
                    hasLine = true
                    if line.count <= TokenInput.limit + 1 { line.append(byte) }
                }
            }
            if answers.utf8.count >= Self.pieceBytes {
                Terminal.answer(lines: answers)
                answers = ""
            }
        }
        if hasLine { finishLine() }
        Terminal.answer(lines: answers)
        return isAllGood
    }

    /// The result for one token, and whether it was verified. The line may end with a carriage return.
    func answer(to line: [UInt8]) -> (text: String, isVerified: Bool) {
        let token = line.last == 0x0D ? line.dropLast() : line[...]
        do throws(TokenRefusal) {
            let limits = TokenLimits(maxBytes: TokenInput.limit, json: JSONLimits(maxBytes: TokenInput.limit))
            let verified = try judgement.verify(try UnverifiedToken(token, limits: limits), now: now)
            let answer: JSONObject = ["verified": true, "kid": .string(verified.keyID)]
            return (json ? TerminalJSON.text(.object(answer)) : "verified", true)
        } catch {
            let answer: JSONObject = ["verified": false, "reason": .string(error.reason.rawValue)]
            return (json ? TerminalJSON.text(.object(answer)) : "refused \(error.reason.rawValue)", false)
        }
    }

    /// The next bytes of standard input; nil at its end.
    private static func piece() throws(CommandFailure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: pieceBytes)
        while true {
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure("standard input: \(FileBytes.reason(errno))") }
            return count == 0 ? nil : Array(bytes.prefix(count))
        }
    }
}
