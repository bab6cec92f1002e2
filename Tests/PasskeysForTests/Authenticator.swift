import Encodings
import Libcrypto
import Passkeys

/// An authenticator and the browser before it, honest unless a test says otherwise. Its signatures are libcrypto's.
package struct Authenticator: Sendable {
    package static let keys = Result {
        try PasskeyAlgorithm.allCases.map { algorithm in
            let kind: KeyKind =
                switch algorithm {
                case .eddsa: .ed25519
                case .es256: .ec(.p256)
                case .rs256: .rsa(bits: 2048)
                }
            return (algorithm, try PrivateKey(generating: kind))
        }
    }

    package static let party = RelyingParty(id: "gate.example", name: "Gate", origins: ["https://gate.example"])

    package var algorithm = PasskeyAlgorithm.es256
    package var key: PrivateKey
    package var credentialID = [UInt8](0..<32)
    /// What the answer says; the credential's id unless a test sets it.
    package var answeredID: [UInt8]?
    package var rawID: [UInt8]?
    package var credentialType: JSONValue = "public-key"
    package var relyingPartyID = "gate.example"
    /// UP, UV, BE and BS.
    package var flags: UInt8 = 0x1D
    package var signCount: UInt32 = 1
    package var behindData: [UInt8] = []
    package var editData: @Sendable (inout [UInt8]) -> Void = { _ in }
    package var clientData: JSONObject = ["origin": "https://gate.example", "crossOrigin": false]
    package var editClientData: @Sendable (String) -> String = { $0 }
    package var editResponse: @Sendable (inout JSONObject) -> Void = { _ in }
    package var userHandle = "usr_1"
    package var signsOver: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    package var editSignature: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    private static func generated(for algorithm: PasskeyAlgorithm) throws -> PrivateKey {
        guard let key = try keys.get().first(where: { $0.0 == algorithm })?.1 else { throw NoKey() }
        return key
    }

    private struct NoKey: Error {}

    package init(_ algorithm: PasskeyAlgorithm = .es256) throws {
        self.algorithm = algorithm
        key = try Self.generated(for: algorithm)
    }

    private func authenticatorData(attested: Bool) -> [UInt8] {
        var data = Digest.sha256(relyingPartyID.utf8) + [flags | (attested ? 0x40 : 0)]
        data += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: signCount >> $0) }
        if attested {
            data += [UInt8](repeating: 0, count: 16)
            data += [UInt8(truncatingIfNeeded: credentialID.count >> 8), UInt8(truncatingIfNeeded: credentialID.count)]
            // The COSE key is not read; a few bytes stand for it.
            data += credentialID + [0xA1, 0x01, 0x02]
        }
        data += behindData
        editData(&data)
        return data
    }

    private func clientDataJSON(_ type: String, _ challenge: String) -> [UInt8] {
        var object: JSONObject = ["type": .string(type), "challenge": .string(challenge)]
        for (name, value) in clientData.members { object[name] = value }
        return Array(editClientData(object.serialized()).utf8)
    }

    private func answer(_ response: JSONObject) -> JSONObject {
        var response = response
        editResponse(&response)
        return [
            "id": .string(Base64URL.encode(answeredID ?? credentialID)),
            "rawId": .string(Base64URL.encode(rawID ?? answeredID ?? credentialID)), "type": credentialType,
            "response": .object(response), "authenticatorAttachment": "platform", "clientExtensionResults": [:],
        ]
    }

    package func registration(_ options: JSONObject) throws -> JSONObject {
        let challenge = options["challenge"]?.stringValue ?? ""
        return answer([
            "clientDataJSON": .string(Base64URL.encode(clientDataJSON("webauthn.create", challenge))),
            "authenticatorData": .string(Base64URL.encode(authenticatorData(attested: true))),
            "publicKey": .string(Base64URL.encode(try key.publicKey.der())),
            "publicKeyAlgorithm": .integer(algorithm.rawValue), "transports": ["internal", "hybrid", "telepathy"],
            "attestationObject": "oA",
        ])
    }

    package func assertion(_ options: JSONObject) throws -> JSONObject {
        let challenge = options["challenge"]?.stringValue ?? ""
        let data = authenticatorData(attested: false)
        let client = clientDataJSON("webauthn.get", challenge)
        let scheme: SignatureScheme =
            switch algorithm {
            case .eddsa: .pure
            case .es256: .ecdsa(.p256, .sha256)
            case .rs256: .rsaPKCS1(.sha256)
            }
        var signature = try SignatureSigner(key, scheme).sign(signsOver(data + Digest.sha256(client)))
        if algorithm == .es256 { signature = der(signature) }
        return answer([
            "clientDataJSON": .string(Base64URL.encode(client)),
            "authenticatorData": .string(Base64URL.encode(data)),
            "signature": .string(Base64URL.encode(editSignature(signature))),
            "userHandle": .string(Base64URL.encode(userHandle.utf8)),
        ])
    }

    /// The DER of a signature in JOSE's encoding.
    private func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var bytes = Array(bytes.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }
        let content = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(content.count)] + content
    }

    package func passkey() throws -> Passkey {
        Passkey(
            credentialID: credentialID, userID: "usr_1", publicKey: try key.publicKey.der(), algorithm: algorithm,
            signCount: 0, isBackupEligible: true, isBackedUp: true, aaguid: [UInt8](repeating: 0, count: 16),
            transports: [], createdAt: 1_800_000_000_000)
    }
}
