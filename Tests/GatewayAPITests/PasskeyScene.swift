import EdgeConfiguration
import Encodings
import Passkeys
import PasskeysForTests
import SecurityGuard
import StateSurface
import Testing

/// Ada, who has signed in with her password, and her authenticator.
struct PasskeyScene {
    let fixture: APIFixture
    let account: AccountRecord
    let authenticator: Authenticator
    let token: String
    let secret: String?
    let sessionID: String

    init(
        _ authenticator: Authenticator? = nil, adjust: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws {
        fixture = try await APIFixture(adjust: adjust)
        account = try await fixture.account()
        var authenticator = try authenticator ?? Authenticator()
        authenticator.userHandle = account.userID
        self.authenticator = authenticator
        let login = try await fixture.login()
        (token, secret, sessionID) = (login.token, login.secret, login.sessionID)
    }

    /// The reason in the last line of the audit log.
    var reason: String? { fixture.audited.last?.reason }

    /// Begins a ceremony, as Ada unless others are given; a login needs no token.
    func begin(_ kind: String, token: String? = nil, secret: String? = nil) async throws -> Answer {
        let token = kind == "login" ? nil : token ?? self.token
        return try await fixture.send(
            "POST", "/api/auth/passkey/\(kind)/begin", Ask(token: token, secret: secret ?? self.secret))
    }

    func finish(
        _ kind: String, _ credential: JSONObject, token: String? = nil, secret: String?, isBrowser: Bool = false
    ) async throws -> Answer {
        try await fixture.send(
            "POST", "/api/auth/passkey/\(kind)/finish",
            Ask(credential.serialized(), token: token, secret: secret, isBrowser: isBrowser))
    }

    /// Registers Ada's authenticator, or another, for Ada.
    func register(_ authenticator: Authenticator? = nil, name: String? = nil) async throws -> Answer {
        let options = try await begin("register").json
        var credential = try (authenticator ?? self.authenticator).registration(options)
        credential["name"] = name.map(JSONValue.string)
        return try await finish("register", credential, token: token, secret: secret)
    }

    /// Signs in with Ada's authenticator, or what pretends to be it.
    func logIn(
        _ secret: String?, as authenticator: Authenticator? = nil, signCount: UInt32 = 9, isBrowser: Bool = false,
        also: JSONObject = [:]
    ) async throws -> Answer {
        var authenticator = authenticator ?? self.authenticator
        authenticator.signCount = signCount
        let options = try await begin("login", secret: secret).json
        var credential = try authenticator.assertion(options)
        for (name, value) in also.members { credential[name] = value }
        return try await finish("login", credential, secret: secret, isBrowser: isBrowser)
    }

    func list(_ token: String? = nil) async throws -> [JSONObject] {
        let answer = try await fixture.send("GET", "/api/auth/passkeys", Ask(token: token ?? self.token))
        return answer.json["passkeys"]?.arrayValue?.compactMap(\.objectValue) ?? []
    }
}

/// One lie of an authenticator or page, and the reason in the audit log that it has to lead to.
struct PasskeyLie: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: String
    let tell: @Sendable (inout Authenticator) -> Void

    init(_ name: String, _ reason: PasskeyRefusal, _ tell: @escaping @Sendable (inout Authenticator) -> Void) {
        testDescription = name
        self.reason = reason.rawValue
        self.tell = tell
    }

    private static let shared: [PasskeyLie] = [
        PasskeyLie("another origin", .originMismatch) { $0.clientData["origin"] = "https://gate.example.evil.example" },
        PasskeyLie("the origin over http", .originMismatch) { $0.clientData["origin"] = "http://gate.example" },
        PasskeyLie("in a frame of another origin", .crossOrigin) { $0.clientData["crossOrigin"] = true },
        PasskeyLie("a challenge of its own", .ceremonyUnknown) {
            $0.clientData["challenge"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 32)))
        },
        PasskeyLie("a short challenge", .ceremonyUnknown) { $0.clientData["challenge"] = "AAAA" },
        PasskeyLie("another relying party", .relyingPartyMismatch) { $0.relyingPartyID = "evil.example" },
        PasskeyLie("no user present", .userNotPresent) { $0.flags = 0x1C },
        PasskeyLie("no user verified", .userNotVerified) { $0.flags = 0x19 },
        PasskeyLie("copied though it can't be", .backupStateImpossible) { $0.flags = 0x15 },
        PasskeyLie("oversized client data", .responseMalformed) {
            $0.clientData["padding"] = .string(String(repeating: "a", count: 5_000))
        },
        PasskeyLie("two ids", .credentialIDMismatch) { $0.rawID = [1, 2, 3] },
        PasskeyLie("another type of credential", .responseMalformed) { $0.credentialType = "password" },
        PasskeyLie("no response", .responseMalformed) { $0.editResponse = { $0 = JSONObject() } },
    ]

    static let ofSignIn: [PasskeyLie] =
        shared + [
            PasskeyLie("data behind the data", .authenticatorDataMalformed) { $0.behindData = [0] },
            PasskeyLie("a broken signature", .signatureInvalid) { $0.editSignature = { $0.map { $0 ^ 1 } } },
            PasskeyLie("a signature over something else", .signatureInvalid) { $0.signsOver = { $0 + [0] } },
            PasskeyLie("an empty signature", .signatureInvalid) { $0.editSignature = { _ in [] } },
            PasskeyLie("an oversized signature", .responseMalformed) {
                $0.editSignature = { _ in [UInt8](repeating: 0, count: 2_000) }
            },
            PasskeyLie("a key that is not the registered one", .signatureInvalid) {
                if let other = try? Authenticator(.eddsa) { ($0.algorithm, $0.key) = (.eddsa, other.key) }
            },
            PasskeyLie("an unknown credential", .credentialUnknown) { $0.credentialID = [9, 9, 9] },
            PasskeyLie("another person's handle", .userHandleMismatch) { $0.userHandle = "usr_somebody" },
            PasskeyLie("the client data of a registration", .typeMismatch) {
                $0.clientData["type"] = "webauthn.create"
            },
            PasskeyLie("may be copied all of a sudden", .backupEligibilityChanged) { $0.flags = 0x05 },
            PasskeyLie("a counter of before", .counterRegressed) { $0.signCount = 1 },
        ]

    static let ofRegistration: [PasskeyLie] =
        shared + [
            PasskeyLie("the client data of a sign-in", .typeMismatch) { $0.clientData["type"] = "webauthn.get" },
            PasskeyLie("a key of another algorithm", .algorithmMismatch) { $0.algorithm = .rs256 },
            PasskeyLie("an algorithm that was not offered", .algorithmMismatch) {
                $0.editResponse = { $0["publicKeyAlgorithm"] = -47 }
            },
            PasskeyLie("no key", .publicKeyMalformed) { $0.editResponse = { $0["publicKey"] = "AAAA" } },
            PasskeyLie("an oversized key", .responseMalformed) {
                $0.editResponse = { $0["publicKey"] = .string(String(repeating: "A", count: 4_000)) }
            },
            PasskeyLie("a credential in its data that is another", .credentialIDMismatch) { $0.answeredID = [1, 2] },
        ]
}
