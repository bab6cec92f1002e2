import Encodings
import Libcrypto
import Testing

@testable import Passkeys

/// The test vectors of WebAuthn Level 3 §16: made by others, for the RP ID `example.org`.
///
/// The specification has the public key inside the authenticator data in COSE; here it is, as `getPublicKey()` gives
/// it, the SubjectPublicKeyInfo of the same numbers.
@Suite("The vectors of WebAuthn Level 3")
struct VectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let algorithm: PasskeyAlgorithm
        let key: @Sendable () throws -> PublicKey
        let registrationClientData: String
        let registrationData: String
        let registrationChallenge: String
        let clientData: String
        let data: String
        let signature: String
        let challenge: String

        var testDescription: String { name }
    }

    static let vectors = [
        Vector(
            name: "§16.2, ES256 with no attestation", algorithm: .es256,
            key: {
                try PublicKey(
                    curve: .p256, x: hex("afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61"),
                    y: hex("930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220"))
            },
            registrationClientData:
                "7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a22414d4d507434557878475453746e"
                + "63647134313759447742466938767049612d7077386f4f755657345441222c226f726967696e223a2268747470733a2f2f65786"
                + "16d706c652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e744461"
                + "74614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e2074686"
                + "5206675747572652c207375636820617320746869733a20426b5165446a646354427258426941774a544c453551227d",
            registrationData:
                "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b559000000008446ccb9ab1db374750b2367ff6f3a1f"
                + "0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4a5010203262001215820afefa16f97ca9b2"
                + "d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820930a56b87a2fca66334b03458abf879717c12cc68ed73290"
                + "af2e2664796b9220",
            registrationChallenge: "00c30fb78531c464d2b6771dab8d7b603c01162f2fa486bea70f283ae556e130",
            clientData:
                "7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a224f63446e55685158756c5455506f334a55"
                + "58543049393770767a7a59425039745a63685879617630314167222c226f726967696e223a2268747470733a2f2f6578616d706"
                + "c652e6f7267222c2263726f73734f726967696e223a66616c73657d",
            data: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b51900000000",
            signature:
                "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11"
                + "a1dd5d78c6e486013f937295ea13653e331e87",
            challenge: "39c0e7521417ba54d43e8dc95174f423dee9bf3cd804ff6d65c857c9abf4d408"),
        Vector(
            name: "§16.11, Ed25519", algorithm: .eddsa,
            key: {
                try PublicKey(
                    kind: .ed25519,
                    rawBytes: hex("44e06ddd331c36a8dc667bab52bcae63486c916aa5e339e6acebaa84934bf832"))
            },
            registrationClientData:
                "7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a22714b763532723347734e396a526d"
                + "733576616e6f6f306f303459557a656c6e7878586d5a426e6254733730222c226f726967696e223a2268747470733a2f2f65786"
                + "16d706c652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e744461"
                + "74614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e2074686"
                + "5206675747572652c207375636820617320746869733a20425f44543567375a445f2d394f544c59583549764551227d",
            registrationData:
                "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b54100000000d5aa33581e8ca478e20fe713f5d32ff2"
                + "0020ce9f840ed96599580cd140fbc7bb3230633f50f61041aff73308ae71caa8a2bda40101032720062158"
                + "2044e06ddd331c36a8dc667bab52bcae63486c916aa5e339e6acebaa84934bf832",
            registrationChallenge: "a8abf9dabdc6b0df63466b39bda9e8a34a34e185337a59f1c579990676d3b3bd",
            clientData:
                "7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a2269566c583442786a4f6d6d44534b4c596f"
                + "7870557439736e364d48454f7943413135726947514a6e763949222c226f726967696e223a2268747470733a2f2f6578616d706"
                + "c652e6f7267222c2263726f73734f726967696e223a66616c73657d",
            data: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50100000000",
            signature:
                "f5c59c7e46c34f6f8cc197101ddf9934fa2595f68eb1913a637e8419eb9ba4cfdfc48f85393bc0d40b011f0d6fecb097d660752571"
                + "3223a0dc0d453993dae00b",
            challenge: "895957e01c633a698348a2d8a31a54b7db27e8c1c43b2080d79ae2190267bfd2"),
    ]

    private func ceremony(_ kind: Ceremony.Kind, _ challenge: String) throws -> Ceremony {
        Ceremony(
            kind: kind, challengeHash: Digest.sha256(try hex(challenge)), sessionID: "ses_1", sessionEpoch: 1,
            userID: kind == .registration ? "usr_1" : nil, createdAt: now)
    }

    /// The vectors were made without user verification.
    private let party = RelyingParty(
        id: "example.org", name: "Example", origins: ["https://example.org"], requiresUserVerification: false)

    @Test("register and sign in", arguments: vectors)
    func vector(vector: Vector) throws {
        let credentialID = Base64URL.encode(try hex(vector.registrationData)[55..<87])
        let registration = try Registration([
            "id": .string(credentialID), "rawId": .string(credentialID), "type": "public-key",
            "response": [
                "clientDataJSON": .string(Base64URL.encode(try hex(vector.registrationClientData))),
                "authenticatorData": .string(Base64URL.encode(try hex(vector.registrationData))),
                "publicKey": .string(Base64URL.encode(try vector.key().der())),
                "publicKeyAlgorithm": .integer(vector.algorithm.rawValue),
            ],
        ])
        let begun = try ceremony(.registration, vector.registrationChallenge)
        #expect(registration.challengeHash == begun.challengeHash)
        let passkey = try registration.finish(
            begun, party, sessionID: "ses_1", sessionEpoch: 1, isKnown: { _ in false }, now: now
        ).get()
        #expect(Base64URL.encode(passkey.credentialID) == credentialID && passkey.signCount == 0)

        func finish(_ signature: [UInt8]) throws -> Result<Passkey, PasskeyRefusal> {
            let assertion = try Assertion([
                "id": .string(credentialID), "rawId": .string(credentialID), "type": "public-key",
                "response": [
                    "clientDataJSON": .string(Base64URL.encode(try hex(vector.clientData))),
                    "authenticatorData": .string(Base64URL.encode(try hex(vector.data))),
                    "signature": .string(Base64URL.encode(signature)),
                    "userHandle": .string(Base64URL.encode("usr_1".utf8)),
                ],
            ])
            return assertion.finish(
                try ceremony(.authentication, vector.challenge), passkey, party, sessionID: "ses_1", sessionEpoch: 1,
                now: now)
        }
        let signature = try hex(vector.signature)
        #expect(try finish(signature).get().credentialID == passkey.credentialID)
        for place in signature.indices {
            var changed = signature
            changed[place] ^= 1
            guard case .failure = try finish(changed) else {
                Issue.record("byte \(place) of the signature means nothing")
                continue
            }
        }
        // The vectors are without user verification, and a party that asks for it refuses them.
        let strict = RelyingParty(id: "example.org", name: "Example", origins: ["https://example.org"])
        guard
            case .failure(.userNotVerified) = registration.finish(
                begun, strict, sessionID: "ses_1", sessionEpoch: 1, isKnown: { _ in false }, now: now)
        else {
            Issue.record("a person was not verified and is accepted")
            return
        }
    }
}
