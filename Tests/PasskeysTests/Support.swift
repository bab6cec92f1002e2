import Encodings
import Libcrypto
import Testing

@testable import Passkeys

/// Milliseconds since 1970.
let now: Int64 = 1_800_000_000_000

struct BadHex: Error {}

func hex(_ text: String) throws -> [UInt8] {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { throw BadHex() }
    return try stride(from: 0, to: digits.count, by: 2).map { at in
        guard let byte = UInt8(String(decoding: digits[at...(at + 1)], as: UTF8.self), radix: 16) else {
            throw BadHex()
        }
        return byte
    }
}

/// An authenticator and the browser before it, honest unless a test says otherwise. Its signatures are libcrypto's.
struct Authenticator: Sendable {
    static let keys = Result {
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

    static let party = RelyingParty(id: "gate.example", name: "Gate", origins: ["https://gate.example"])

    var algorithm = PasskeyAlgorithm.es256
    var key: PrivateKey
    var credentialID = [UInt8](0..<32)
    /// What the answer says; the credential's id unless a test sets it.
    var answeredID: [UInt8]?
    var rawID: [UInt8]?
    var credentialType: JSONValue = "public-key"
    var relyingPartyID = "gate.example"
    /// UP, UV, BE and BS.
    var flags: UInt8 = 0x1D
    var signCount: UInt32 = 1
    var behindData: [UInt8] = []
    var editData: @Sendable (inout [UInt8]) -> Void = { _ in }
    var clientData: JSONObject = ["origin": "https://gate.example", "crossOrigin": false]
    var editClientData: @Sendable (String) -> String = { $0 }
    var editResponse: @Sendable (inout JSONObject) -> Void = { _ in }
    var userHandle = "usr_1"
    var signsOver: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    var editSignature: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    init(_ algorithm: PasskeyAlgorithm = .es256) throws {
        self.algorithm = algorithm
        key = try #require(try Self.keys.get().first { $0.0 == algorithm }).1
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

    func registration(_ options: JSONObject) throws -> JSONObject {
        let challenge = options["challenge"]?.stringValue ?? ""
        return answer([
            "clientDataJSON": .string(Base64URL.encode(clientDataJSON("webauthn.create", challenge))),
            "authenticatorData": .string(Base64URL.encode(authenticatorData(attested: true))),
            "publicKey": .string(Base64URL.encode(try key.publicKey.der())),
            "publicKeyAlgorithm": .integer(algorithm.rawValue), "transports": ["internal", "hybrid", "telepathy"],
            "attestationObject": "oA",
        ])
    }

    func assertion(_ options: JSONObject) throws -> JSONObject {
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

    func passkey() throws -> Passkey {
        Passkey(
            credentialID: credentialID, userID: "usr_1", publicKey: try key.publicKey.der(), algorithm: algorithm,
            signCount: 0, isBackupEligible: true, isBackedUp: true, aaguid: [UInt8](repeating: 0, count: 16),
            transports: [], createdAt: now)
    }
}

/// One lie, and the refusal it has to lead to.
struct Lie: Sendable, CustomTestStringConvertible {
    let name: String
    let expected: PasskeyRefusal
    let tell: @Sendable (inout Authenticator) throws -> Void

    init(_ name: String, _ expected: PasskeyRefusal, _ tell: @escaping @Sendable (inout Authenticator) throws -> Void) {
        self.name = name
        self.expected = expected
        self.tell = tell
    }

    var testDescription: String { name }
}
