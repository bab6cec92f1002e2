import Encodings
import Libcrypto

extension SigningKey {
    /// Signs a payload and returns the compact JWS (RFC 7515 section 7.1).
    ///
    /// - Parameters:
    ///   - payload: the bytes to sign.
    ///   - type: the `typ`; nil for none.
    ///   - extraHeader: further header members. `alg`, `kid`, `typ`, `crit` and `b64` are refused with
    ///     ``JOSEError/Code/headerReserved``.
    /// - Throws: also ``JOSEError/Code/failed`` if libcrypto can't sign.
    public func sign(
        payload: some Collection<UInt8>, type: String? = nil, extraHeader: JSONObject = [:]
    ) throws(JOSEError) -> String {
        let header = try header(type: type, extraHeader)
        let input =
            payload.withContiguousStorageIfAvailable { Self.signingInput(header, $0, self) }
            ?? Array(payload).withUnsafeBufferPointer { Self.signingInput(header, $0, self) }
        return try complete(input)
    }

    /// Signs claims and returns the JWT (RFC 7519).
    ///
    /// - Parameters:
    ///   - claims: the claims, which are written in their order. Nothing is added: `exp`, too, is the caller's to set.
    ///   - type: the `typ`, such as `at+jwt`. It tells kinds of tokens apart (RFC 8725 section 3.11).
    ///   - extraHeader: further header members, as for ``sign(payload:type:extraHeader:)``.
    public func sign(
        claims: JSONObject, type: String, extraHeader: JSONObject = [:]
    ) throws(JOSEError) -> String {
        try sign(payload: claims.serializedBytes(), type: type, extraHeader: extraHeader)
    }

    /// Signs a payload that is sent separately, and returns the compact JWS with an empty payload (RFC 7515 appendix
    /// F).
    ///
    /// The verifier calls ``UnverifiedToken/verifySignature(with:detachedPayload:)``. The arguments are those of
    /// ``sign(payload:type:extraHeader:)``.
    public func sign(
        detachedPayload payload: some Collection<UInt8>, type: String? = nil, extraHeader: JSONObject = [:]
    ) throws(JOSEError) -> String {
        let header = Base64URL.encodeBytes(try header(type: type, extraHeader)) + [UInt8(ascii: ".")]
        let signature = try signature(over: header + Base64URL.encodeBytes(payload))
        return String(decoding: header + [UInt8(ascii: ".")] + Base64URL.encodeBytes(signature), as: UTF8.self)
    }

    // MARK: Steps

    /// The signing input (RFC 7515 section 5.1), in an array with capacity for the signature.
    private static func signingInput(
        _ header: [UInt8], _ payload: UnsafeBufferPointer<UInt8>, _ key: SigningKey
    ) -> [UInt8] {
        let headerCount = Base64URL.encodedCount(header.count)
        let count = headerCount + 1 + Base64URL.encodedCount(payload.count)
        let room = 1 + Base64URL.encodedCount(key.verificationKey.signatureByteCount)
        return [UInt8](unsafeUninitializedCapacity: count + room) { out, written in
            _ = header.withUnsafeBufferPointer { Base64URL.encode($0, into: out) }
            out[headerCount] = UInt8(ascii: ".")
            _ = Base64URL.encode(payload, into: UnsafeMutableBufferPointer(rebasing: out[(headerCount + 1)...]))
            written = count
        }
    }

    /// Signs the input and appends the signature.
    private func complete(_ input: consuming [UInt8]) throws(JOSEError) -> String {
        let signature = try signature(over: input)
        input.append(UInt8(ascii: "."))
        input.append(contentsOf: Base64URL.encodeBytes(signature))
        return String(decoding: input, as: UTF8.self)
    }

    /// The JSON text of the header. `alg` and `kid` were serialised when the key was made.
    private func header(type: String?, _ extra: JSONObject) throws(JOSEError) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(headerMembers.count + 48)
        text.append(UInt8(ascii: "{"))
        if let type {
            text.append(contentsOf: "\"typ\":".utf8)
            JSONText.append(type, to: &text)
            text.append(UInt8(ascii: ","))
        }
        text.append(contentsOf: headerMembers)
        for (name, value) in extra.members {
            guard !Self.reserved.contains(ByteName(name)) else {
                throw JOSEError(.headerReserved, "\(name) may not be set by hand")
            }
            text.append(UInt8(ascii: ","))
            JSONText.append(name, to: &text)
            text.append(UInt8(ascii: ":"))
            text.append(contentsOf: value.serializedBytes())
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static let reserved = Set(
        [
            HeaderName.algorithm, HeaderName.keyID, HeaderName.type, HeaderName.critical, HeaderName.unencodedPayload,
        ].map(ByteName.init))

    /// The signature of bytes, not encoded.
    package func signature(over input: [UInt8]) throws(JOSEError) -> [UInt8] {
        try JOSEError.mapping { () throws(LibcryptoError) in
            switch backend {
            case .asymmetric(let signer, _): try signer.sign(input)
            case .symmetric(let key, _): try key.authenticate(input)
            }
        }
    }
}
