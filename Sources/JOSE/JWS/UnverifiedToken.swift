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
    /// The header; what it says is a claim of whoever wrote the token.
    public let header: ProtectedHeader
    /// The payload; what it says is a claim of whoever wrote the token.
    public let unverifiedPayload: [UInt8]
    let signature: [UInt8]
    let bytes: [UInt8]
    let payloadStart: Int
    let signingInputCount: Int
    let limits: TokenLimits

    /// Reads a token; refuses `too_large` and `malformed`.
    @inlinable
    public init(_ text: some Collection<UInt8>, limits: TokenLimits = TokenLimits()) throws(TokenRefusal) {
        // The length first, so that what is too large is not even copied.
        try self.init(bytes: text.count <= limits.maxBytes ? Array(text) : nil, limits)
    }

    /// Reads the bytes of a token; nil if they were too many.
    @usableFromInline
    init(bytes: [UInt8]?, _ limits: TokenLimits) throws(TokenRefusal) {
        guard let bytes else {
            throw TokenRefusal(.tooLarge, "the token is longer than \(limits.maxBytes) bytes")
        }
        let parts: Result<Parts, TokenRefusal> = bytes.withUnsafeBufferPointer { text in
            do throws(TokenRefusal) {
                return .success(try Parts(text, limits))
            } catch {
                return .failure(error)
            }
        }
        let read = try parts.get()
        header = read.header
        unverifiedPayload = read.payload
        signature = read.signature
        self.bytes = bytes
        payloadStart = read.payloadStart
        signingInputCount = read.signingInputCount
        self.limits = limits
    }

    /// Reads a token; refuses `too_large` and `malformed`.
    public init(_ text: String, limits: TokenLimits = TokenLimits()) throws(TokenRefusal) {
        try self.init(text.utf8, limits: limits)
    }

    /// The claims, unproved: for choosing an issuer's keys and for inspection.
    public func unverifiedClaims() throws(TokenRefusal) -> Claims {
        try Claims(try Self.object(unverifiedPayload, "payload", limits))
    }

    static func object(
        _ bytes: [UInt8], _ part: StaticString, _ limits: TokenLimits
    ) throws(TokenRefusal) -> JSONObject {
        switch bytes.withUnsafeBufferPointer({ StrictJSON.object(buffer: $0, limits: limits.json) }) {
        case .success(let object): return object
        case .failure(let error):
            throw TokenRefusal(.malformed, "the \(part) is not one strict JSON object: \(error)")
        }
    }
}

/// The three segments, decoded.
private struct Parts {
    let header: ProtectedHeader
    let payload: [UInt8]
    let signature: [UInt8]
    let payloadStart: Int
    let signingInputCount: Int

    init(_ text: UnsafeBufferPointer<UInt8>, _ limits: TokenLimits) throws(TokenRefusal) {
        let (first, second) = try Self.dots(in: text)
        guard let payload = Base64URL.decode(buffer: UnsafeBufferPointer(rebasing: text[(first + 1)..<second])),
            let signature = Base64URL.decode(buffer: UnsafeBufferPointer(rebasing: text[(second + 1)...]))
        else { throw Self.unreadable(text) }
        header = try HeaderMemo.header(of: UnsafeBufferPointer(rebasing: text[..<first]), limits)
        self.payload = payload
        self.signature = signature
        payloadStart = first + 1
        signingInputCount = second
    }

    /// Finds two dots and looks no further: a third is no letter of base64url, so the signature is refused for it.
    /// Splitting would make an array of whatever is sent.
    private static func dots(in text: UnsafeBufferPointer<UInt8>) throws(TokenRefusal) -> (Int, Int) {
        let dot = UInt8(ascii: ".")
        guard let first = text.firstPlace(of: dot, from: 0),
            let second = text.firstPlace(of: dot, from: first + 1)
        else { throw TokenRefusal(.malformed, "a token has three segments") }
        guard first > 0 else { throw TokenRefusal(.malformed, "the header is empty") }
        return (first, second)
    }

    /// Why the segments cannot be read; the text is within its limit here.
    private static func unreadable(_ text: UnsafeBufferPointer<UInt8>) -> TokenRefusal {
        switch text.count(where: { $0 == UInt8(ascii: ".") }) {
        case 2: TokenRefusal(.malformed, "a segment is not base64url")
        case 4: TokenRefusal(.malformed, "five segments: encrypted tokens (JWE) are not read")
        default: TokenRefusal(.malformed, "a token has three segments")
        }
    }
}
