import Encodings
import PasskeysForTests
import RandomForTests
import Testing

@testable import Passkeys

@Suite("Ceremonies")
struct CeremonyTests {
    @Test("The options of a registration are the specification's JSON") func creation() throws {
        let existing = Passkey(
            credentialID: [1, 2, 3], userID: "usr_1", publicKey: [], algorithm: .es256, signCount: 0,
            isBackupEligible: false, isBackedUp: false, aaguid: [], transports: ["usb"], createdAt: now)
        let begun = BegunCeremony.registration(
            Authenticator.party, userID: "usr_1", userName: "ada@example.com", displayName: "Ada", existing: [existing],
            sessionID: "ses_1", sessionEpoch: 1, now: now)
        let challenge = try #require(begun.options["challenge"]?.stringValue)
        var options = begun.options
        options["challenge"] = nil
        let expected: JSONObject = [
            "rp": ["id": "gate.example", "name": "Gate"],
            "user": ["id": "dXNyXzE", "name": "ada@example.com", "displayName": "Ada"],
            "pubKeyCredParams": [
                ["type": "public-key", "alg": -8], ["type": "public-key", "alg": -7],
                ["type": "public-key", "alg": -257],
            ],
            "timeout": 300_000,
            "excludeCredentials": [["type": "public-key", "id": "AQID", "transports": ["usb"]]],
            "authenticatorSelection": [
                "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
            ],
            "attestation": "none",
        ]
        #expect(options == expected)
        #expect(Base64URL.decode(challenge)?.count == 32)
        #expect(begun.ceremony.userID == "usr_1" && begun.ceremony.expiresAt == now + 300_000)
        #expect(!"\(begun.ceremony)".contains(challenge))
    }

    @Test("The options of a sign-in name no credential, and each has a challenge of its own") func request() throws {
        func begin() -> BegunCeremony {
            BegunCeremony.authentication(Authenticator.party, sessionID: "ses_1", sessionEpoch: 1, now: now)
        }
        let begun = begin()
        #expect(begun.options["allowCredentials"] == [] && begun.options["rpId"] == "gate.example")
        #expect(begun.options["userVerification"] == "required" && begun.ceremony.userID == nil)
        #expect(begun.options["challenge"] != begin().options["challenge"])
    }

    @Test("A registration keeps the transports that are known") func transports() throws {
        let authenticator = try Authenticator()
        let begun = BegunCeremony.registration(
            Authenticator.party, userID: "usr_1", userName: "a", displayName: "A", existing: [], sessionID: "ses_1",
            sessionEpoch: 1, now: now)
        let registration = try Registration(try authenticator.registration(begun.options))
        #expect(registration.challengeHash == begun.ceremony.challengeHash)
        let passkey = try registration.finish(
            begun.ceremony, Authenticator.party, sessionID: "ses_1", sessionEpoch: 1, isKnown: { _ in false }, now: now
        ).get()
        #expect(passkey.transports == ["hybrid", "internal"] && passkey.createdAt == now && passkey.isBackedUp)
        #expect(passkey.userID == "usr_1" && passkey.signCount == 1)
    }

    /// What has to hold for all bytes.
    private func violation(_ bytes: [UInt8]) -> String? {
        if let data = try? AuthenticatorData(bytes) {
            if bytes.count < 37 || bytes.count > AuthenticatorData.maximumBytes { return "a length that can't be" }
            if (data.attested != nil) != (bytes[32] & 0x40 != 0) { return "a credential out of nothing" }
            if let attested = data.attested {
                let end = 55 + attested.credentialID.count
                guard (1...1023).contains(attested.credentialID.count), bytes.count > end,
                    Array(bytes[55..<end]) == attested.credentialID
                else { return "not the bytes of the credential id" }
            }
        }
        if let client = try? ClientData(bytes), (try? StrictJSON.object(bytes))?["origin"] != .string(client.origin) {
            return "another origin than the text has"
        }
        for algorithm in PasskeyAlgorithm.allCases {
            guard let key = try? PasskeyKey(bytes, algorithm) else { continue }
            if key.isValid(bytes, for: bytes) { return "a signature out of nothing" }
        }
        guard let object = try? StrictJSON.object(bytes) else { return nil }
        _ = try? Registration(object)
        _ = try? Assertion(object)
        return nil
    }

    @Test("Mutated answers break nothing") func mutations() throws {
        let authenticator = try Authenticator()
        let options: JSONObject = ["challenge": "AAAA"]
        let registration = try authenticator.registration(options)
        let response = try #require(registration["response"]?.objectValue)
        let parts = ["authenticatorData", "clientDataJSON", "publicKey"].compactMap { name in
            response[name]?.stringValue.flatMap { Base64URL.decode($0) }
        }
        let seeds = parts + [registration.serializedBytes(), try authenticator.assertion(options).serializedBytes()]
        var generator = SeededGenerator(seed: 16)
        for round in 0..<4_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0...bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                default: bytes = Array(bytes.prefix(place))
                }
            }
            #expect(violation(bytes) == nil, "round \(round)")
        }
    }
}
