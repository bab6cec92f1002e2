import ArgumentParser
import Encodings
import JOSE

/// `gatehouse token verify`: verifies a token with the keys that are named. Exits with status 1 if it is refused, or
/// with `--lines` if any is, and with 2 for wrong usage and keys that can't be used.
struct TokenVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verifies a token with a key.",
        discussion: """
            Exits 0 when it is verified, 1 when it is refused (with the reason), 2 for wrong usage or a key that can't \
            be used. The key's format (PEM, DER, JWK, JWKS) is found by looking at it. Nothing is fetched unless \
            --jwks names a URL.

            With --lines standard input holds one token a line, and each gets one line of answer, in order: \
            'verified' or 'refused REASON'. One refusal is enough for exit 1.
            """)

    @OptionGroup var input: TokenInput

    @Option(help: .init("The key: PEM, DER or JWK.", valueName: "file"))
    var key: String?
    @OptionGroup var passphrase: KeyPassphraseOption
    @Option(help: .init("A key set, in a file or at a URL.", valueName: "file|url"))
    var jwks: String?
    @Option(help: .init("An algorithm to accept; may be repeated. Default: the key's own.", valueName: "name"))
    var algorithm: [String] = []
    @Option(parsing: .unconditional, help: "The required value of iss.")
    var issuer: String?
    @Option(parsing: .unconditional, help: "A required value of aud.")
    var audience: String?
    @Option(parsing: .unconditional, help: "The required value of typ.")
    var type: String?
    @Flag(help: "The signature alone: the payload may be anything, also empty.")
    var signatureOnly = false
    @Flag(help: "Judge every line of standard input, and answer a line for each.")
    var lines = false
    @Flag(help: "Answer as one JSON object, with --lines one for each line.")
    var json = false

    /// Refuses combinations of flags that contradict each other as wrong usage.
    func validate() throws {
        if lines, input.token != nil {
            throw ValidationError("--lines reads tokens from standard input: leave the argument out")
        }
        guard (key == nil) != (jwks == nil) else {
            throw ValidationError("name one key to verify with: --key FILE or --jwks FILE|URL")
        }
        if key == nil, passphrase.passphraseFile != nil {
            throw ValidationError("\(KeyPassphraseOption.flag) opens --key: a key set is never encrypted")
        }
        if signatureOnly, issuer != nil || audience != nil {
            throw ValidationError("--signature-only does not look at claims: leave out --issuer and --audience")
        }
    }

    func run() async throws {
        let keys = try await keys()
        let judgement = TokenJudgement(
            keys: keys.usual, byAlgorithm: keys.byAlgorithm, issuer: issuer, audience: audience, type: type,
            signatureOnly: signatureOnly)
        guard !lines else { return try judgeLines(judgement) }
        do {
            report(try judgement.verify(try input.parse(), now: Double(SystemClock.milliseconds()) / 1_000))
        } catch let refusal as TokenRefusal {
            report(refusal)
            throw ExitCode(CommandFailure.Status.failed.rawValue)
        }
    }

    /// Reads the key or the key set. Only a key set named by a URL is fetched.
    ///
    /// - Throws: ``CommandFailure`` of status 2 for an unknown algorithm and for keys that can't be used.
    private func keys() async throws -> TokenKeyring {
        var algorithms: [SignatureAlgorithm] = []
        for name in algorithm {
            let known = try AlgorithmNames.verifying.checked(name, as: "--algorithm")
            if let algorithm = SignatureAlgorithm(name: known) { algorithms.append(algorithm) }
        }
        guard let key else { return try await TokenKeyring(keySet: jwks ?? "", algorithms: algorithms) }
        return try TokenKeyring(keyFile: key, algorithms: algorithms, passphrase: try passphrase.read())
    }

    // MARK: Lines

    /// Answers each line of standard input, then throws status 1 if any token was refused.
    private func judgeLines(_ judgement: TokenJudgement) throws {
        let lines = TokenLines(judgement: judgement, now: Double(SystemClock.milliseconds()) / 1_000, json: json)
        guard try lines.judgeInput() else { throw ExitCode(CommandFailure.Status.failed.rawValue) }
    }

    // MARK: Output

    /// Prints a verified token: algorithm, key and claims; with `--json` as one object.
    private func report(_ verified: TokenJudgement.Verified) {
        guard json else {
            Terminal.answer("verified: \(verified.algorithm), key \(TerminalText.escaped(verified.keyID))")
            for (name, value) in verified.claims?.members ?? [] {
                Terminal.answer("  \(TerminalText.escaped(name)): \(TerminalJSON.text(value))")
            }
            return
        }
        var answer: JSONObject = [
            "verified": true, "algorithm": .string(verified.algorithm), "kid": .string(verified.keyID),
            "header": .object(verified.header),
        ]
        answer["claims"] = verified.claims.map { .object($0) }
        Terminal.answer(TerminalJSON.text(.object(answer)))
    }

    /// Prints why a token is refused: with `--json` on standard output, otherwise on standard error.
    private func report(_ refusal: TokenRefusal) {
        if json {
            let answer: JSONObject = [
                "verified": false, "reason": .string(refusal.reason.rawValue), "detail": .string(refusal.detail),
            ]
            Terminal.answer(TerminalJSON.text(.object(answer)))
        } else {
            Terminal.notice("refused: \(ErrorText.oneLine(refusal.description))")
        }
    }
}
