import Encodings
import Libcrypto

extension SigningKey {
    /// Signs any payload: the compact JWS.
    ///
    /// - Parameters:
    ///   - payload: the bytes to sign.
    ///   - type: the `typ`; none is written for nil.
    ///   - extraHeader: further header members; the ones that decide about verification are refused.
    public func sign(
        payload: some Collection<UInt8>, type: String? = nil, extraHeader: JSONObject = [:]
    ) throws(JOSEError) -> String {
        var token = Base64URL.encodeBytes(try header(type: type, extraHeader).serializedBytes())
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: Base64URL.encodeBytes(payload))
        let signature = try signature(over: token)
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: Base64URL.encodeBytes(signature))
        return String(decoding: token, as: UTF8.self)
    }

    /// Signs claims: the JWT.
    public func sign(
        claims: JSONObject, type: String, extraHeader: JSONObject = [:]
    ) throws(JOSEError) -> String {
        try sign(payload: claims.serializedBytes(), type: type, extraHeader: extraHeader)
    }

    /// Signs a payload that travels apart (RFC 7515, appendix F): the compact JWS with an empty middle.
    public func sign(
        detachedPayload payload: some Collection<UInt8>, type: String? = nil, extraHeader: JSONObject = [:]
    ) throws(JOSEError) -> String {
        let header = Base64URL.encodeBytes(try header(type: type, extraHeader).serializedBytes()) + [UInt8(ascii: ".")]
        let signature = try signature(over: header + Base64URL.encodeBytes(payload))
        return String(decoding: header + [UInt8(ascii: ".")] + Base64URL.encodeBytes(signature), as: UTF8.self)
    }

    private func header(type: String?, _ extra: JSONObject) throws(JOSEError) -> JSONObject {
        var header: JSONObject = [:]
        if let type { header.append(HeaderName.type, .string(type)) }
        header.append(HeaderName.algorithm, .string(algorithm.rawValue))
        header.append(HeaderName.keyID, .string(keyID))
        for (name, value) in extra.members {
            guard !Self.reserved.contains(ByteName(name)) else {
                throw JOSEError(.headerReserved, "\(name) may not be set by hand")
            }
            header.append(name, value)
        }
        return header
    }

    private static let reserved = Set(
        [
            HeaderName.algorithm, HeaderName.keyID, HeaderName.type, HeaderName.critical, HeaderName.unencodedPayload,
        ].map(ByteName.init))

    /// The raw signature over bytes.
    func signature(over input: [UInt8]) throws(JOSEError) -> [UInt8] {
        try JOSEError.mapping { () throws(LibcryptoError) in
            switch backend {
            case .asymmetric(let signer, _): try signer.sign(input)
            case .symmetric(let key, _): try key.authenticate(input)
            }
        }
    }
}
