import ArgumentParser
import EdgeConfiguration
import Encodings
import Experience
import JOSE
import Runtime
import SecurityGuard

/// `gatehouse keys`: the signing keys, one PKCS#8 PEM per file.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes, rotates and retires signing keys.",
        discussion: "A running gateway applies the change within a second.",
        subcommands: [Generate.self, List.self, Rotate.self, Retire.self, JWKS.self])

    /// `keys generate`: prints the new key's `kid`. Makes the directory if there is none.
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key: the first one signs at once, a later one waits for a rotation.")

        @OptionGroup var algorithm: AlgorithmOption
        @OptionGroup var options: KeyOptions

        func run() throws {
            let audit = try options.openAudit()
            let made = try options.directory().generate(algorithm: algorithm.value)
            try audit.record("key.generated", ["kid": .string(made.entry.keyID)])
            Terminal.answer(made.entry.keyID, isElsewhere: true)
            Terminal.notice("made \(options.place(of: made)): \(made.state.rawValue)")
        }
    }

    /// `keys list`: prints every key of the index, retired ones included, with its state and when that will change by
    /// itself.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys and what each is used for.")

        @Flag(help: "Answer as one JSON array.")
        var json = false
        @OptionGroup var options: KeyOptions

        func run() throws {
            var listing = Listing(columns: ["kid", "state", "until", "algorithm", "published_at", "file"])
            let directory = try options.existingDirectory()
            options.warnOfStrays(in: directory)
            for key in try directory.list() {
                listing.rows.append([
                    "kid": .string(key.entry.keyID), "state": .string(key.state.rawValue),
                    "until": key.until.map { .string(Timestamp.text($0)) } ?? .null,
                    "algorithm": .string(key.entry.algorithm.rawValue),
                    "published_at": .string(Timestamp.text(key.entry.publishedAt)),
                    "file": .string(key.entry.file), "missing": .bool(key.isMissing),
                ])
            }
            listing.show(asJSON: json)
        }
    }

    /// `keys rotate`: prints the `kid` of the next signing key, and on standard error when it begins to sign.
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publishes the next signing key now and signs with it once every verifier can know it.")

        @OptionGroup var algorithm: AlgorithmOption
        @Flag(help: "Sign with it at once: verifiers with a cached key set refuse its tokens for up to 5 minutes.")
        var now = false
        @OptionGroup var options: KeyOptions

        func run() throws {
            let directory = try options.existingDirectory()
            let audit = try options.openAudit()
            let next = try directory.rotate(algorithm: algorithm.value, immediately: now)
            try audit.record("key.rotated", ["kid": .string(next.entry.keyID)])
            options.warnOfStrays(in: directory)
            Terminal.answer(next.entry.keyID, isElsewhere: true)
            let start = next.until.map { "from \(Timestamp.text($0))" } ?? "now"
            Terminal.notice("\(options.place(of: next)) signs \(start)")
        }
    }

    /// `keys retire`: if it was the signing key, another one replaces it in the same step, and is made if there is
    /// none. Exits with status 1 for an unknown `kid`.
    struct Retire: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Takes a key out of service at once: its tokens are refused from then on.")

        @Argument(help: "The key's kid, as 'gatehouse keys list' shows it.")
        var kid: String
        @OptionGroup var options: KeyOptions

        /// Refuses an empty id as wrong usage.
        func validate() throws { try StateOptions.requireGiven(kid, as: "the kid") }

        func run() throws {
            let directory = try options.existingDirectory()
            let before = try directory.list()
            let audit = try options.openAudit()
            let retired = try directory.retire(keyID: kid)
            try audit.record("key.retired", ["kid": .string(retired.entry.keyID)])
            options.warnOfStrays(in: directory)
            Terminal.notice("\(options.place(of: retired)) is retired: its tokens are refused from now on")
            guard let signer = try directory.list().first(where: { $0.state == .active }) else { return }
            let name = options.place(of: signer)
            guard let known = before.first(where: { $0.entry.keyID == signer.entry.keyID }) else {
                return Terminal.notice("no other key was there to sign, so one was made: \(name) signs now")
            }
            if known.state != .active { Terminal.notice("\(name) signs now") }
        }
    }

    /// `keys jwks`: prints the key set as `/.well-known/jwks.json` serves it.
    struct JWKS: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "jwks", abstract: "Prints the public keys as they are served.")

        @OptionGroup var options: KeyOptions

        func run() throws {
            Terminal.answer(try options.existingDirectory().jwks())
        }
    }
}

extension ValueFormat {
    /// The value of a flag. An invalid one is wrong usage.
    func checked(_ text: String, as flag: String) throws(CommandFailure) -> Value {
        do {
            return try value(of: text)
        } catch {
            throw CommandFailure("\(flag): \(error.message)", status: .misused)
        }
    }
}
