import Encodings

/// What a token may cost.
public struct TokenLimits: Sendable {
    /// The longest token, in bytes.
    public var maxBytes: Int
    /// The limits of header and payload.
    public var json: JSONLimits

    /// Eight KiB, unless told otherwise.
    public init(maxBytes: Int = 8 * 1024, json: JSONLimits = JSONLimits()) {
        self.maxBytes = maxBytes
        self.json = json
    }
}

/// A compact JWS (RFC 7515 §7.1) that was read strictly, and of which nothing is proved.
///
/// Only `verify` makes a `VerifiedToken` of it.
public struct UnverifiedToken: Sendable {
    /// The header, which the writer of the token chose. Its signature is not verified yet.
    public let header: ProtectedHeader
    /// The payload and behind it the signature: both are read anyway, and one array is quicker than two.
    let decoded: [UInt8]
    let signatureStart: Int
    let bytes: [UInt8]
    let payloadStart: Int
    let signingInputCount: Int
    let limits: TokenLimits

    /// Reads a token.
    ///
    /// - Parameters:
    ///   - text: the three segments, without whitespace around them.
    ///   - limits: what the token may cost.
    ///   - headers: where many tokens of one issuer are read, remembers the last header.
    /// - Throws: ``TokenRefusal/Reason/tooLarge`` or ``TokenRefusal/Reason/malformed``.
    @inlinable
    public init(
        _ text: some Collection<UInt8>, limits: TokenLimits = TokenLimits(), headers: HeaderMemo? = nil
    ) throws(TokenRefusal) {
        // The length first, so that what is too large is not even copied.
        try self.init(bytes: text.count <= limits.maxBytes ? Array(text) : nil, limits, headers)
    }

    /// Reads the bytes of a token; nil if they were too many.
    @usableFromInline
    init(bytes: [UInt8]?, _ limits: TokenLimits, _ headers: HeaderMemo?) throws(TokenRefusal) {
        guard let bytes else {
            throw TokenRefusal(moreThan: limits.maxBytes)
        }
        let read = try bytes.withUnsafeBufferPointer { Segments.read($0, limits, headers) }.get()
        header = read.header
        decoded = read.decoded
        signatureStart = read.signatureStart
        self.bytes = bytes
        payloadStart = read.payloadStart
        signingInputCount = read.signingInputCount
        self.limits = limits
    }

    /// Reads a token that is a string; see the initialiser for bytes.
    ///
    /// - Throws: ``TokenRefusal/Reason/tooLarge`` or ``TokenRefusal/Reason/malformed``.
    public init(
        _ text: String, limits: TokenLimits = TokenLimits(), headers: HeaderMemo? = nil
    ) throws(TokenRefusal) {
        try self.init(text.utf8, limits: limits, headers: headers)
    }

    /// The payload, which the writer of the token chose. Its signature is not verified yet.
    public var unverifiedPayload: [UInt8] { Array(decoded[..<signatureStart]) }

    var signature: [UInt8] { Array(decoded[signatureStart...]) }

    /// The claims, unproved: for choosing an issuer's keys and for inspection.
    ///
    /// - Throws: ``TokenRefusal/Reason/malformed`` for a payload that is not one strict JSON object,
    ///   ``TokenRefusal/Reason/claimInvalid`` for a registered claim of the wrong type.
    public func unverifiedClaims() throws(TokenRefusal) -> Claims {
        let index: JSONIndex
        do throws(JSONError) {
            index = try JSONIndex(reading: decoded, upTo: signatureStart, limits: limits.json)
        } catch {
            throw TokenRefusal("payload", error)
        }
        return try Claims(index)
    }
}

/// Takes a compact JWS apart.
private enum Segments {
    typealias Read = (
        header: ProtectedHeader, decoded: [UInt8], signatureStart: Int, payloadStart: Int, signingInputCount: Int
    )

    static func read(
        _ text: UnsafeBufferPointer<UInt8>, _ limits: TokenLimits, _ headers: HeaderMemo?
    ) -> Result<Read, TokenRefusal> {
        do throws(TokenRefusal) {
            let (first, second) = try dots(in: text)
            let segment = UnsafeBufferPointer(rebasing: text[..<first])
            let header =
                if let headers { try headers.header(of: segment, limits) } else {
                    try ProtectedHeader(segment: segment, limits)
                }
            let payload = UnsafeBufferPointer(rebasing: text[(first + 1)..<second])
            let signature = UnsafeBufferPointer(rebasing: text[(second + 1)...])
            guard let (decoded, signatureStart) = Base64URL.decode(payload, signature) else {
                throw unreadable(text, from: second + 1)
            }
            return .success((header, decoded, signatureStart, first + 1, second))
        } catch {
            return .failure(error)
        }
    }

    /// Finds two dots and looks no further: a third is no letter of base64url, so the signature is refused for it.
    /// Splitting would make an array as long as the input has dots.
    private static func dots(in text: UnsafeBufferPointer<UInt8>) throws(TokenRefusal) -> (Int, Int) {
        let dot = UInt8(ascii: ".")
        guard let first = text.firstPlace(of: dot, from: 0),
            let second = text.firstPlace(of: dot, from: first + 1)
        else { throw TokenRefusal(.malformed, "a token has three segments") }
        guard first > 0 else { throw TokenRefusal(.malformed, "the header is empty") }
        return (first, second)
    }

    /// Why the segments cannot be read: what follows the second dot tells.
    private static func unreadable(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> TokenRefusal {
        let dot = UInt8(ascii: ".")
        guard let third = text.firstPlace(of: dot, from: start) else {
            return TokenRefusal(.malformed, "a segment is not base64url")
        }
        guard let fourth = text.firstPlace(of: dot, from: third + 1),
            text.firstPlace(of: dot, from: fourth + 1) == nil
        else { return TokenRefusal(.malformed, "a token has three segments") }
        return TokenRefusal(.malformed, "five segments: encrypted tokens (JWE) are not read")
    }
}
