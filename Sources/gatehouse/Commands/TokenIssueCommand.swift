import ArgumentParser
import EdgeConfiguration
import Encodings
import Experience
import JOSE
import Libcrypto
import SecurityGuard
import StateSurface

/// `gatehouse token issue`: signs a token with the gateway's key, or one that is named.
struct TokenIssueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue", abstract: "Signs a token for a user or client.",
        discussion: """
            An access token like those of a login, but outside any refresh family: it ends at its exp, or when its \
            subject is disabled. Anyone who can read the signing keys can do this.
            """)

    @Option(
        parsing: .unconditional,
        help: "The claim sub: a user id (usr_…) or client id (cli_…); with --issuer or --key also another.")
    var subject: String
    @Option(
        parsing: .unconditional,
        help: "The claim tenant_id. Default: the tenant of the user or client, where the store knows it.")
    var tenant: String?
    @Option(parsing: .unconditionalSingleValue, help: "A scope; may be repeated.")
    var scope: [String] = []
    @Option(
        parsing: .unconditional,
        help: "The claim iss. Default: tokens.issuer, else http:// and server.listen.")
    var issuer: String?
    @Option(parsing: .unconditionalSingleValue, help: "The claim aud; may be repeated. Default: tokens.audience.")
    var audience: [String] = []
    @Option(help: "How long it lives, such as 15m. Default: tokens.access_token_lifetime.")
    var lifetime: String?
    @Option(parsing: .unconditional, help: "The header typ.")
    var type = TokenType.accessToken
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "A claim that no option says; its value is JSON, or else text. May be repeated.", valueName: "name=value"))
    var claim: [String] = []
    @Option(help: .init("A private key to sign with: PEM, DER or JWK. Default: the gateway's.", valueName: "file"))
    var key: String?
    @Option(help: .init("The algorithm of --key, where the key does not say.", valueName: "name"))
    var algorithm: String?
    @OptionGroup var passphrase: KeyPassphraseOption
    @OptionGroup var options: KeyOptions

    /// Refuses as wrong usage what no token of the gateway can hold, and a passphrase file without `--key`. Subject and
    /// claims may be anything: who tests a verifier needs odd tokens with a good signature.
    func validate() throws {
        try StateOptions.requireGiven(subject, as: "--subject")
        try StateOptions.requireTenant(tenant)
        try StateOptions.requireScope(scope)
        if let issuer { try StateOptions.requireGiven(issuer, as: "--issuer") }
        for name in audience { try StateOptions.requireGiven(name, as: "--audience") }
        for pair in claim {
            let name = pair.prefix { $0 != "=" }
            guard !name.isEmpty, name.endIndex < pair.endIndex else {
                throw ValidationError("--claim: expected NAME=VALUE")
            }
        }
        if key == nil, passphrase.passphraseFile != nil {
            throw ValidationError(
                "\(KeyPassphraseOption.flag) opens --key; what opens the gateway's keys is keys.passphrase_file")
        }
    }

    func run() async throws {
        let policy = try TokenPolicy(try options.state.load(), issuer: nil)
        let home: String
        if let tenant { home = tenant } else { home = try await tenantOfSubject() ?? policy.defaultTenant }
        Terminal.answer(try signingKey().sign(claims: try claims(policy, tenant: home), type: type))
    }

    /// Whether the subject is a client, and no user.
    private var isClient: Bool { subject.utf8.starts(with: Prefix.client.utf8) }

    /// The tenant of the subject, from the store; nil if there is no store, it can't be reached, or it does not know
    /// the subject: a token can be signed without it.
    private func tenantOfSubject() async throws -> String? {
        do {
            return try await options.state.withStoreIfThere { (store: CommandStore) -> String? in
                if isClient { return try await store.surface.client(id: subject)?.tenantID }
                return try await store.surface.account(userID: subject)?.tenantID
            }
        } catch is StateSurfaceError {
            Terminal.notice("the store can't be asked for the subject's tenant: name it with --tenant if it is another")
            return nil
        }
    }

    /// The claims of the token. Times are whole seconds.
    ///
    /// - Throws: ``CommandFailure`` of status 2 for a lifetime that can't be read.
    private func claims(_ policy: TokenPolicy, tenant: String) throws -> JSONObject {
        let milliseconds = try lifetime.map { text in
            try ValueFormat.duration(Quantity.second...3_650 * Quantity.day).checked(text, as: "--lifetime")
        }
        let now = SystemClock.milliseconds() / 1_000
        let audience = audience.isEmpty ? policy.audience : audience
        var claims: JSONObject = [
            ClaimName.issuer: .string(issuer ?? policy.issuer), ClaimName.subject: .string(subject),
            ClaimName.audience: audience.count == 1 ? .string(audience[0]) : .array(audience.map { .string($0) }),
            ClaimName.expiresAt: .integer(now + (milliseconds ?? policy.accessTokenLifetime) / 1_000),
            ClaimName.notBefore: .integer(now), ClaimName.issuedAt: .integer(now),
            ClaimName.tokenID: .string(Base64URL.encode(SecureRandom.bytes(16))),
            ClaimName.clientID: .string(isClient ? subject : firstPartyClientID),
            ClaimName.tenantID: .string(tenant), ClaimName.scope: .string(scope.joined(separator: " ")),
        ]
        for pair in claim {
            let name = pair.prefix { $0 != "=" }
            let text = String(pair[name.endIndex...].dropFirst())
            claims[String(name)] = (try? StrictJSON.parse(text)) ?? .string(text)
        }
        return claims
    }

    /// The key of `--key`, or else the gateway's active one.
    private func signingKey() throws -> SigningKey {
        let algorithm = try algorithm.map { try AlgorithmNames.verifying.checked($0, as: "--algorithm") }
        if let key {
            return try Self.signingKey(
                key, algorithm.flatMap { SignatureAlgorithm(name: $0) }, keyID: nil, passphrase: try passphrase.read(),
                setting: KeyPassphraseOption.flag)
        }
        return try Self.activeKey(in: try options.directory())
    }

    /// The gateway's key that signs now.
    static func activeKey(in directory: KeyDirectory) throws -> SigningKey {
        guard let active = try directory.list().first(where: { $0.state == .active })?.entry else {
            throw CommandFailure("\(directory.path) has no active key: make one with 'gatehouse keys generate'")
        }
        return try signingKey(
            "\(directory.path)/\(active.file)", active.algorithm, keyID: active.keyID,
            passphrase: directory.passphrase, setting: "keys.passphrase_file")
    }

    /// Reads a private key from a file of at most 64 KiB.
    ///
    /// - Parameters:
    ///   - algorithm: for a key that does not name its own; nil if none was given.
    ///   - setting: the key of the configuration or the flag that names the passphrase, for messages.
    /// - Throws: ``CommandFailure`` of status 2 for a file that is not there, is no private key, or can't be decrypted.
    private static func signingKey(
        _ path: String, _ algorithm: SignatureAlgorithm?, keyID: String?, passphrase: KeyPassphrase?, setting: String
    ) throws(CommandFailure) -> SigningKey {
        guard let bytes = try FileBytes.read(path, limit: 64 * 1_024) else {
            throw CommandFailure("\(path): no such file: name the key's file", status: .misused)
        }
        do throws(JOSEError) {
            return try SigningKey(parsing: bytes, algorithm: algorithm, keyID: keyID, passphrase: passphrase?.bytes)
        } catch {
            if error.code == .passphrase {
                let text = KeyPassphrase.refusal(of: path, given: passphrase, setting: setting)
                throw CommandFailure(text, status: .misused)
            }
            throw CommandFailure("\(path): \(error.message): name a private key that fits", status: .misused)
        }
    }
}
