import Encodings
import Libcrypto
import PasskeysForTests
import Testing

@testable import Passkeys

/// An authenticator, or a page, that lies in one way at a time.
@Suite("An authenticator")
struct LyingAuthenticatorTests {
    private let party = Authenticator.party

    private func register(
        _ authenticator: Authenticator, at time: Int64 = now, sessionID: String = "ses_1", epoch: Int64 = 1,
        isKnown: Bool = false, edit: (inout Ceremony?) -> Void = { _ in }
    ) -> PasskeyRefusal? {
        let begun = BegunCeremony.registration(
            party, userID: "usr_1", userName: "ada@example.com", displayName: "Ada", existing: [], sessionID: "ses_1",
            sessionEpoch: 1, now: now)
        do {
            let registration = try Registration(try authenticator.registration(begun.options))
            var ceremony: Ceremony? = begun.ceremony
            edit(&ceremony)
            let finished = registration.finish(
                ceremony, party, sessionID: sessionID, sessionEpoch: epoch, isKnown: { _ in isKnown }, now: time)
            if case .failure(let refusal) = finished { return refusal }
            return nil
        } catch {
            return error as? PasskeyRefusal
        }
    }

    private func signIn(
        _ authenticator: Authenticator, with passkey: Passkey?, at time: Int64 = now, sessionID: String = "ses_1",
        epoch: Int64 = 1, edit: (inout Ceremony?) -> Void = { _ in }
    ) -> Result<Passkey, PasskeyRefusal> {
        let begun = BegunCeremony.authentication(party, sessionID: "ses_1", sessionEpoch: 1, now: now)
        do {
            let assertion = try Assertion(try authenticator.assertion(begun.options))
            var ceremony: Ceremony? = begun.ceremony
            edit(&ceremony)
            return assertion.finish(
                ceremony, passkey, party, sessionID: sessionID, sessionEpoch: epoch, now: time)
        } catch {
            return .failure(error as? PasskeyRefusal ?? .responseMalformed)
        }
    }

    private func refusal(_ result: Result<Passkey, PasskeyRefusal>) -> PasskeyRefusal? {
        if case .failure(let refusal) = result { refusal } else { nil }
    }

    @Test("that is honest registers and signs in", arguments: PasskeyAlgorithm.allCases)
    func honest(algorithm: PasskeyAlgorithm) throws {
        var authenticator = try Authenticator(algorithm)
        #expect(register(authenticator) == nil)
        authenticator.signCount = 7
        authenticator.flags = 0x0D
        let passkey = try signIn(authenticator, with: try authenticator.passkey()).get()
        #expect(passkey.signCount == 7 && !passkey.isBackedUp && passkey.isBackupEligible)
        #expect(Assertion.authenticationContext == "phr")
    }

    private static let both: [Lie] = [
        Lie("another origin", .originMismatch) { $0.clientData["origin"] = "https://evil.example" },
        Lie("an origin that begins alike", .originMismatch) { $0.clientData["origin"] = "https://gate.example.evil" },
        Lie("the origin with another port", .originMismatch) { $0.clientData["origin"] = "https://gate.example:444" },
        Lie("the origin over http", .originMismatch) { $0.clientData["origin"] = "http://gate.example" },
        Lie("no origin", .clientDataMalformed) { $0.clientData["origin"] = nil },
        Lie("another challenge", .challengeMismatch) {
            $0.clientData["challenge"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 32)))
        },
        Lie("an empty challenge", .challengeMismatch) { $0.clientData["challenge"] = "" },
        Lie("a padded challenge", .clientDataMalformed) { $0.clientData["challenge"] = "AAAA=" },
        Lie("a type of its own", .typeMismatch) { $0.clientData["type"] = "payment.get" },
        Lie("a frame of another origin", .crossOrigin) { $0.clientData["crossOrigin"] = true },
        Lie("a frame of another origin, not said", .crossOrigin) {
            $0.clientData["topOrigin"] = "https://evil.example"
        },
        Lie("a crossOrigin in words", .clientDataMalformed) { $0.clientData["crossOrigin"] = "false" },
        Lie("client data with a member twice", .clientDataMalformed) {
            $0.editClientData = { $0.replacing("{", with: "{\"origin\":\"https://gate.example\",", maxReplacements: 1) }
        },
        Lie("client data of 5,000 bytes", .responseMalformed) {
            $0.clientData["extra"] = .string(String(repeating: "a", count: 5_000))
        },
        Lie("another relying party", .relyingPartyMismatch) { $0.relyingPartyID = "evil.example" },
        Lie("no user present", .userNotPresent) { $0.flags = 0x1C },
        Lie("no user verified", .userNotVerified) { $0.flags = 0x19 },
        Lie("a copy of what can't be copied", .backupStateImpossible) { $0.flags = 0x15 },
        Lie("bytes behind the data", .authenticatorDataMalformed) { authenticator in
            authenticator.editData = { $0 = Array($0.prefix(36)) }
        },
        Lie("data of 5,000 bytes", .responseMalformed) { $0.behindData = [UInt8](repeating: 0, count: 5_000) },
        Lie("an id that is not rawId", .credentialIDMismatch) { $0.rawID = [1, 2, 3] },
        Lie("no id", .credentialIDMismatch) {
            $0.answeredID = []
            $0.rawID = []
        },
        Lie("an id of 1,024 bytes", .responseMalformed) { $0.answeredID = [UInt8](repeating: 1, count: 1024) },
        Lie("another type of credential", .responseMalformed) { $0.credentialType = "password" },
        Lie("no client data", .responseMalformed) { $0.editResponse = { $0["clientDataJSON"] = nil } },
        Lie("client data that is not base64url", .responseMalformed) {
            $0.editResponse = { $0["clientDataJSON"] = "e30=" }
        },
        Lie("no authenticator data", .responseMalformed) { $0.editResponse = { $0["authenticatorData"] = nil } },
    ]

    @Test("that lies in either ceremony comes to nothing", arguments: both)
    func eitherCeremony(lie: Lie) throws {
        var authenticator = try Authenticator()
        #expect(register(authenticator) == nil)
        try lie.tell(&authenticator)
        #expect(register(authenticator) == lie.expected)
        #expect(refusal(signIn(authenticator, with: try Authenticator().passkey())) == lie.expected)
    }

    private static let registrations: [Lie] = [
        Lie("another user's credential", .credentialIDMismatch) { $0.answeredID = [9, 9, 9] },
        Lie("an algorithm that is not offered", .algorithmMismatch) {
            $0.editResponse = { $0["publicKeyAlgorithm"] = -47 }
        },
        Lie("the algorithm of another key", .algorithmMismatch) {
            $0.editResponse = { $0["publicKeyAlgorithm"] = -257 }
        },
        Lie("no algorithm", .responseMalformed) { $0.editResponse = { $0["publicKeyAlgorithm"] = "ES256" } },
        Lie("no key", .responseMalformed) { $0.editResponse = { $0["publicKey"] = .null } },
        Lie("an empty key", .publicKeyMalformed) { $0.editResponse = { $0["publicKey"] = "" } },
        Lie("a key that is text", .publicKeyMalformed) { $0.editResponse = { $0["publicKey"] = "AAAA" } },
        Lie("a key with a byte behind it", .publicKeyMalformed) {
            let key = try $0.key.publicKey.der()
            $0.editResponse = { $0["publicKey"] = .string(Base64URL.encode(key + [0])) }
        },
        Lie("a private key", .publicKeyMalformed) {
            let key = try $0.key.pkcs8DER(passphrase: nil)
            $0.editResponse = { $0["publicKey"] = .string(Base64URL.encode(key)) }
        },
        Lie("an EC key of another curve", .algorithmMismatch) {
            let key = try PrivateKey(generating: .ec(.p384)).publicKey.der()
            $0.editResponse = { $0["publicKey"] = .string(Base64URL.encode(key)) }
        },
        Lie("a point that is not on the curve", .publicKeyMalformed) {
            var key = try $0.key.publicKey.der()
            key[key.count - 1] ^= 1
            let changed = key
            $0.editResponse = { $0["publicKey"] = .string(Base64URL.encode(changed)) }
        },
        Lie("no new credential in the data", .authenticatorDataMalformed) { authenticator in
            authenticator.editData = { $0 = Array($0.prefix(32)) + [0x1D] + Array($0[33..<37]) }
        },
        Lie("a credential id longer than the data", .authenticatorDataMalformed) { authenticator in
            authenticator.editData = { $0[53] = 4 }
        },
        Lie("a credential id of no bytes", .authenticatorDataMalformed) { authenticator in
            authenticator.editData = { $0[54] = 0 }
        },
        Lie("no key behind the credential id", .authenticatorDataMalformed) { authenticator in
            authenticator.editData = { $0.removeLast(3) }
        },
    ]

    @Test("that lies while it registers gets no passkey", arguments: registrations)
    func registration(lie: Lie) throws {
        var authenticator = try Authenticator()
        try lie.tell(&authenticator)
        #expect(register(authenticator) == lie.expected)
    }

    private static let assertions: [Lie] = [
        Lie("a signature over something else", .signatureInvalid) { $0.signsOver = { $0 + [0] } },
        Lie("a signature without the client data", .signatureInvalid) { $0.signsOver = { Array($0.dropLast(32)) } },
        Lie("the signature of another key", .signatureInvalid) { $0.key = try PrivateKey(generating: .ec(.p256)) },
        Lie("half a signature", .signatureInvalid) { $0.editSignature = { Array($0.dropLast()) } },
        Lie("a signature with a byte behind it", .signatureInvalid) { $0.editSignature = { $0 + [0] } },
        Lie("no signature", .signatureInvalid) { $0.editSignature = { _ in [] } },
        Lie("r and s of zero", .signatureInvalid) { $0.editSignature = { _ in [0x30, 6, 2, 1, 0, 2, 1, 0] } },
        Lie("a signature of 1,025 bytes", .responseMalformed) {
            $0.editSignature = { _ in [UInt8](repeating: 0, count: 1025) }
        },
        Lie("another person", .userHandleMismatch) { $0.userHandle = "usr_2" },
        Lie("no person", .responseMalformed) { $0.editResponse = { $0["userHandle"] = .null } },
        Lie("an empty person", .userHandleMismatch) { $0.userHandle = "" },
        Lie("another credential", .credentialUnknown) { $0.answeredID = [9, 9, 9] },
        Lie("a credential that may be copied now", .backupEligibilityChanged) { $0.flags = 0x05 },
        Lie("a new credential", .authenticatorDataMalformed) {
            $0.flags |= 0x40
            $0.behindData = [UInt8](repeating: 0, count: 16) + [0, 1, 7, 0xA0]
        },
        Lie("extensions that are not there", .authenticatorDataMalformed) { $0.flags |= 0x80 },
        Lie("extensions that are not announced", .authenticatorDataMalformed) { $0.behindData = [0xA0] },
    ]

    @Test("that lies while it signs in signs no user in", arguments: assertions)
    func assertion(lie: Lie) throws {
        var authenticator = try Authenticator()
        let passkey = try authenticator.passkey()
        #expect(refusal(signIn(authenticator, with: passkey)) == nil)
        try lie.tell(&authenticator)
        #expect(refusal(signIn(authenticator, with: passkey)) == lie.expected)
    }

    @Test("with announced extensions signs in") func extensions() throws {
        var authenticator = try Authenticator()
        authenticator.flags |= 0x80
        authenticator.behindData = [0xA0]
        #expect(refusal(signIn(authenticator, with: try authenticator.passkey())) == nil)
    }

    @Test("for which no passkey is stored signs no user in") func unknown() throws {
        #expect(refusal(signIn(try Authenticator(), with: nil)) == .credentialUnknown)
        #expect(register(try Authenticator(), isKnown: true) == .credentialKnown)
    }

    @Test(
        "whose counter does not go on was copied",
        arguments: [
            (UInt32(0), UInt32(0), true), (0, 1, true), (5, 6, true), (5, .max, true), (5, 5, false), (5, 4, false),
            (5, 0, false), (.max, .max, false), (.max, 0, false),
        ])
    func counter(stored: UInt32, answered: UInt32, isAccepted: Bool) throws {
        var authenticator = try Authenticator()
        authenticator.signCount = answered
        var passkey = try authenticator.passkey()
        passkey.signCount = stored
        #expect(refusal(signIn(authenticator, with: passkey)) == (isAccepted ? nil : .counterRegressed))
    }

    @Test("answers to its own ceremony alone, in time, in the session that began it") func ceremony() throws {
        let authenticator = try Authenticator()
        let passkey = try authenticator.passkey()
        #expect(register(authenticator, edit: { $0 = nil }) == .ceremonyUnknown)
        #expect(register(authenticator, at: now + 299_999) == nil)
        #expect(register(authenticator, at: now + 300_000) == .ceremonyExpired)
        #expect(register(authenticator, at: now - 1) == .ceremonyExpired)
        #expect(register(authenticator, sessionID: "ses_2") == .ceremonyOfOtherSession)
        #expect(register(authenticator, epoch: 2) == .ceremonyOfOtherSession)
        #expect(refusal(signIn(authenticator, with: passkey, edit: { $0 = nil })) == .ceremonyUnknown)
        #expect(refusal(signIn(authenticator, with: passkey, at: now + 300_000)) == .ceremonyExpired)
        #expect(refusal(signIn(authenticator, with: passkey, sessionID: "ses_2")) == .ceremonyOfOtherSession)
        #expect(refusal(signIn(authenticator, with: passkey, epoch: 0)) == .ceremonyOfOtherSession)
        func swapped(_ kind: Ceremony.Kind) -> (inout Ceremony?) -> Void {
            { ceremony in
                guard let begun = ceremony else { return }
                ceremony = Ceremony(
                    kind: kind, challengeHash: begun.challengeHash, sessionID: begun.sessionID,
                    sessionEpoch: begun.sessionEpoch, userID: "usr_1", createdAt: begun.createdAt)
            }
        }
        #expect(register(authenticator, edit: swapped(.authentication)) == .ceremonyUnknown)
        #expect(refusal(signIn(authenticator, with: passkey, edit: swapped(.registration))) == .ceremonyUnknown)
    }

    @Test("can't use the answer of one ceremony in the other") func exchanged() throws {
        let authenticator = try Authenticator()
        var create = authenticator
        create.clientData["type"] = "webauthn.create"
        #expect(refusal(signIn(create, with: try authenticator.passkey())) == .typeMismatch)
        var get = authenticator
        get.clientData["type"] = "webauthn.get"
        #expect(register(get) == .typeMismatch)
    }
}
