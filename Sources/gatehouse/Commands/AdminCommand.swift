import AdminAPI
import ArgumentParser
import EdgeConfiguration
import Encodings
import Experience
import JOSE
import Libcrypto
import SecurityGuard

/// `gatehouse admin`: what an operator needs for the API of the admin listener.
struct AdminCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Gives access to the operator's API of the admin listener.",
        subcommands: [Token.self])

    /// `admin token`: prints an access token with the scope `gatehouse:admin`, signed with the gateway's active key.
    /// The audit log, if there is one, records its `jti` and the operator before it is printed. Exits with status 1 if
    /// there is no active key or the audit log can't be written, and with 2 for a lifetime out of range.
    struct Token: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints an access token for the operator's API.",
            discussion: """
                It has the scope gatehouse:admin and ends by itself; who asked for it is a line of the audit log. Anyone \
                who can read the signing keys can do this. On a Unix socket (server.admin: unix:/PATH) the gateway's own \
                user and root need no token.
                """)

        @Option(
            help: "How long it lives, at most tokens.access_token_lifetime. Default: 15m, or that where it is less.")
        var lifetime: String?
        @OptionGroup var options: KeyOptions

        func run() throws {
            let policy = try TokenPolicy(try options.state.load(), issuer: nil)
            // Verifiers refuse tokens that live longer than the gateway's own do.
            let most = policy.accessTokenLifetime
            let milliseconds =
                try lifetime.map { text in
                    try ValueFormat.duration(Quantity.second...most).checked(text, as: "--lifetime")
                } ?? min(15 * Quantity.minute, most)
            let key = try TokenIssueCommand.activeKey(in: try options.directory())
            let audit = try options.openAudit()
            let tokenID = Base64URL.encode(SecureRandom.bytes(16))
            let now = SystemClock.milliseconds() / 1_000
            let token = try key.sign(
                claims: [
                    ClaimName.issuer: .string(policy.issuer), ClaimName.subject: .string(Self.subject),
                    ClaimName.audience: .array(policy.audience.map { .string($0) }),
                    ClaimName.expiresAt: .integer(now + milliseconds / 1_000),
                    ClaimName.notBefore: .integer(now), ClaimName.issuedAt: .integer(now),
                    ClaimName.tokenID: .string(tokenID), ClaimName.clientID: .string(Self.subject),
                    ClaimName.tenantID: .string(policy.defaultTenant), ClaimName.scope: .string(AdminRights.scope),
                ], type: TokenType.accessToken)
            try audit.record(
                "admin.token_issued", ["jti": .string(tokenID), "lifetime_seconds": .integer(milliseconds / 1_000)])
            Terminal.answer(token)
        }

        /// `cli_operator_` and the system's user, so that the audit log says on whose behalf a session was ended. What
        /// a subject cannot have is left out.
        private static var subject: String {
            let name = CommandAudit.operatorName.utf8.filter { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
            return "cli_operator_" + String(decoding: name.prefix(64), as: UTF8.self)
        }
    }
}
