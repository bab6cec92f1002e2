import Encodings
import Foundation

@testable import HostileTokens
@testable import JOSE

/// A correct verifier except for the mistakes that are switched on, each of which has occurred in released software.
struct LaxVerifier: Sendable {
    enum Bug: String, CaseIterable, Sendable {
        case acceptsNone, acceptsNoneInAnyCase, ignoresSignature, acceptsEmptySignature
        case hmacWithPEM, hmacWithJWK, hmacWithEmptyKey, algorithmFromHeader, ignoresAlgorithm
        case trustsEmbeddedKey, trustsEmbeddedCertificate, readsKeyFile, ignoresKeyID
        case acceptsZeroSignature, acceptsDER, ignoresTrailingBytes
        case ignoresBadBase64, ignoresPadding, ignoresExtraSegments
        case lenientJSON, ignoresBadJSON, ignoresCritical, ignoresType, ignoresNesting
        case ignoresExpiry, ignoresDatesOfOtherTypes, ignoresNotBefore, ignoresLifetime
        case ignoresAudience, audienceBySubstring, ignoresIssuer, issuerByPrefix, ignoresOtherClaims
        case ignoresSize
    }

    let key: SigningKey
    let bug: Bug

    func accepts(_ token: [UInt8]) -> Bool {
        if bug != .ignoresSize, token.count > 8 * 1024 { return false }
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        guard parts.count == 3 || (bug == .ignoresExtraSegments && parts.count > 3),
            let headerBytes = decode(parts[0]), let payload = decode(parts[1]), let signature = decode(parts[2]),
            let header = object(headerBytes, fallback: ["alg": .string(key.algorithm.rawValue)])
        else { return false }
        let input = parts[0] + [UInt8(ascii: ".")] + parts[1]
        guard isCritical(header) == false, isSigned(header, input, signature) else { return false }
        guard let claims = object(payload, fallback: goodClaims) else { return false }
        return isRightType(header) && areRight(claims)
    }

    // MARK: Reading

    private func decode(_ text: [UInt8]) -> [UInt8]? {
        if let bytes = Base64URL.decode(text) { return bytes }
        switch bug {
        case .ignoresPadding: return Base64URL.decode(text.filter { $0 != UInt8(ascii: "=") })
        case .ignoresBadBase64:
            let letters = text.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case let byte where Base64URL.decode([byte, UInt8(ascii: "A")]) != nil: byte
                case let byte where [0x2D, 0x5F].contains(byte) || Character(UnicodeScalar(byte)).isLetter: byte
                case UInt8(ascii: "0")...UInt8(ascii: "9"): byte
                default: nil
                }
            }
            let kept = letters.count % 4 == 1 ? letters.dropLast() : letters[...]
            var base64 = String(decoding: kept, as: UTF8.self)
                .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
            return Data(base64Encoded: base64).map(Array.init)
        default: return nil
        }
    }

    private func object(_ bytes: [UInt8], fallback: JSONObject) -> JSONObject? {
        if let object = try? StrictJSON.object(bytes) { return object }
        switch bug {
        case .ignoresBadJSON: return fallback
        case .lenientJSON:
            // Foundation silently uses one of two members with the same name.
            guard let value = try? JSONSerialization.jsonObject(with: Data(bytes)),
                let dictionary = value as? [String: Any],
                let data = try? JSONSerialization.data(withJSONObject: dictionary.filter { $0.key != "x" })
            else { return nil }
            return try? StrictJSON.object(Array(data))
        default: return nil
        }
    }

    // MARK: Signature

    private func isCritical(_ header: JSONObject) -> Bool {
        bug != .ignoresCritical && (header["crit"] != nil || header["b64"] != nil)
    }

    private func isSigned(_ header: JSONObject, _ input: [UInt8], _ signature: [UInt8]) -> Bool {
        if bug == .ignoresSignature { return true }
        if bug == .acceptsEmptySignature, signature.isEmpty { return true }
        let algorithm = header["alg"]?.stringValue ?? ""
        if bug == .acceptsNone, algorithm == "none" { return true }
        if bug == .acceptsNoneInAnyCase, algorithm.lowercased() == "none" { return true }
        if bug == .acceptsZeroSignature, signature.allSatisfy({ $0 == 0 }) { return true }
        guard let key = key(for: header, algorithm) else { return false }
        if key.verifies(signature, input) { return true }
        switch bug {
        case .ignoresTrailingBytes: return key.verifies(Array(signature.prefix(64)), input)
        case .acceptsDER: return rawSignature(signature).map { key.verifies($0, input) } ?? false
        default: return false
        }
    }

    private func key(for header: JSONObject, _ algorithm: String) -> VerificationKey? {
        let own = key.verificationKey
        if let hash = SignatureAlgorithm(name: algorithm), hash.isSymmetric, let secret = secret(header, own) {
            let filled = secret + [UInt8](repeating: 0, count: max(0, (hash == .hs256 ? 64 : 128) - secret.count))
            return try? VerificationKey(secret: filled, algorithm: hash)
        }
        if bug == .trustsEmbeddedKey, let jwk = header["jwk"]?.objectValue {
            return try? VerificationKey(jwk: jwk, algorithm: SignatureAlgorithm(name: algorithm))
        }
        if bug == .trustsEmbeddedCertificate, let text = header["x5c"]?.arrayValue?.first?.stringValue,
            let certificate = Data(base64Encoded: text), let der = try? own.der(),
            let start = Array(certificate).firstRange(of: Array(der.prefix(26)))?.lowerBound
        {
            return try? VerificationKey(der: Array(Array(certificate)[start..<(start + der.count)]), algorithm: nil)
        }
        if bug == .algorithmFromHeader, let other = SignatureAlgorithm(name: algorithm) {
            return try? VerificationKey(der: own.der(), algorithm: other)
        }
        guard bug == .ignoresAlgorithm || algorithm.utf8.elementsEqual(own.algorithm.rawValue.utf8) else { return nil }
        switch header["kid"] {
        case nil: return own
        case .string(let keyID): return bug == .ignoresKeyID || keyID == own.keyID ? own : nil
        default: return bug == .ignoresKeyID ? own : nil
        }
    }

    private func secret(_ header: JSONObject, _ key: VerificationKey) -> [UInt8]? {
        switch bug {
        case .hmacWithPEM: return (try? key.pem()).map { Array($0.utf8) }
        case .hmacWithJWK: return key.jwk?.serializedBytes()
        case .hmacWithEmptyKey: return []
        case .trustsEmbeddedKey:
            return header["jwk"]?.objectValue?["k"]?.stringValue.flatMap { Base64URL.decode($0) }
        case .readsKeyFile:
            guard let path = header["kid"]?.stringValue, !path.utf8.contains(0) else { return nil }
            return ["/usr/share/keys/" + path, path].lazy
                .compactMap { FileHandle(forReadingAtPath: $0)?.readDataToEndOfFile() }.first.map(Array.init)
        default: return nil
        }
    }

    /// r‖s of a DER signature of a P-256 key.
    private func rawSignature(_ der: [UInt8]) -> [UInt8]? {
        guard der.count > 8, der[0] == 0x30, der[2] == 2, der.count > 4 + Int(der[3]) else { return nil }
        let r = der[4..<(4 + Int(der[3]))]
        let s = der[(6 + Int(der[3]))...].prefix(Int(der[5 + Int(der[3])]))
        func wide(_ number: ArraySlice<UInt8>) -> [UInt8] {
            let digits = number.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: max(0, 32 - digits.count)) + digits
        }
        return wide(r) + wide(s)
    }
}
