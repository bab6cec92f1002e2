import Encodings
import JOSE

/// The properties that hold for any input. Shared by the fuzzer (`make fuzz-jose`) and by the tests, which replay its
/// corpus.
enum FuzzProperties: String, CaseIterable {
    case base64url
    case json
    case jws
    case jwk
    case pem

    /// The property that does not hold, in a few words; nil if all do.
    func violation(_ bytes: [UInt8]) -> String? {
        switch self {
        case .base64url: Self.base64url(bytes)
        case .json: Self.json(bytes)
        case .jws: Self.token(bytes)
        case .jwk, .pem: Self.key(bytes)
        }
    }

    private static func base64url(_ bytes: [UInt8]) -> String? {
        let encoded = Base64URL.encodeBytes(bytes)
        if Base64URL.decode(encoded) != bytes { return "what was encoded is not decoded" }
        if let decoded = Base64URL.decode(bytes), Base64URL.encodeBytes(decoded) != bytes {
            return "a second spelling was accepted"
        }
        return nil
    }

    private static func json(_ bytes: [UInt8]) -> String? {
        if let difference = difference(bytes) { return difference }
        guard let value = try? StrictJSON.parse(bytes) else { return nil }
        let written = value.serializedBytes()
        guard let again = try? StrictJSON.parse(written, limits: JSONLimits(maxBytes: 1_000_000)) else {
            return "what was written is not read"
        }
        if again != value { return "what was written is read as something else" }
        return again.serializedBytes() == written ? nil : "what was written is written differently"
    }

    /// An indexed object equals the parsed object, or is refused for the same fault.
    private static func difference(_ bytes: [UInt8]) -> String? {
        let index: JSONIndex
        do throws(JSONError) {
            index = try JSONIndex(reading: bytes, upTo: bytes.count, limits: JSONLimits())
        } catch {
            return fault(bytes) == error ? nil : "refused only where it is left in its text, or for another fault"
        }
        guard let object = try? StrictJSON.object(bytes) else { return "refused only where it is built" }
        let members = object.members
        guard index.members.count == members.count, index.object == object else { return "two objects in one text" }
        for place in members.indices {
            let (name, value) = members[place]
            guard index.name(at: place).utf8.elementsEqual(name.utf8), index.value(at: place) == value else {
                return "two members in one place"
            }
        }
        return nil
    }

    private static func fault(_ bytes: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try StrictJSON.object(bytes)
            return nil
        } catch {
            return error
        }
    }

    private static let secret = [UInt8](repeating: 0x2A, count: 32)

    private static func token(_ bytes: [UInt8]) -> String? {
        guard let token = try? UnverifiedToken(bytes) else { return nil }
        let segments = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, Base64URL.encodeBytes(token.unverifiedPayload)[...] == segments[1] else {
            return "not the three segments that were sent"
        }
        if let claims = try? token.unverifiedClaims(), let object = try? StrictJSON.object(token.unverifiedPayload) {
            for (name, value) in object.members.prefix(20) where claims[name] != value { return "another claim" }
        }
        for finding in TokenLint.findings(token, now: 1_800_000_000) where finding.message.isEmpty {
            return "a finding without words"
        }
        let shown = TerminalText.escaped(bytes: token.unverifiedPayload)
        if shown.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            return "a control character would reach the terminal"
        }
        guard let key = try? SigningKey(secret: secret, algorithm: .hs256),
            case .success = token.verifySignature(with: key.verificationKey)
        else { return nil }
        // If accepted, it must be what the key signs over the same bytes.
        return token.header.algorithm.utf8.elementsEqual("HS256".utf8) ? nil : "another algorithm was accepted"
    }

    private static func key(_ bytes: [UInt8]) -> String? {
        let passphrase = Array("passphrase".utf8)
        _ = try? JWKSet(parsing: bytes, policy: .remote)
        if let set = try? JWKSet(file: bytes), JWKSet.publicJSON(of: set.keys).contains("\"d\":") {
            return "a private member was published"
        }
        if let signing = try? SigningKey(parsing: bytes, passphrase: passphrase), !signing.algorithm.isSymmetric {
            guard let pem = try? signing.pkcs8PEM(),
                let again = try? SigningKey(pem: pem, algorithm: signing.algorithm),
                again.verificationKey.thumbprint == signing.verificationKey.thumbprint
            else { return "a private key is not read back" }
        }
        guard let key = try? VerificationKey(parsing: bytes, passphrase: passphrase), !key.isSymmetric else {
            return nil
        }
        guard let der = try? key.der(), let again = try? VerificationKey(der: der, algorithm: key.algorithm) else {
            return "a public key is not read back"
        }
        return again.thumbprint == key.thumbprint ? nil : "a public key is read back as another"
    }
}
