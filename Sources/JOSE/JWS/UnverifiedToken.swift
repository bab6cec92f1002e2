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
    public init(_ text: some Collection<UInt8>, limits: TokenLimits = TokenLimits()) throws(TokenRefusal) {
        guard text.count <= limits.maxBytes else {
            throw TokenRefusal(.tooLarge, "the token is longer than \(limits.maxBytes) bytes")
        }
        let bytes = Array(text)
        let (first, second) = try Self.dots(in: bytes)
        guard let payload = Base64URL.decode(bytes[(first + 1)..<second]),
            let signature = Base64URL.decode(bytes[(second + 1)...])
        else { throw Self.unreadable(bytes) }
        header = try HeaderMemo.header(of: bytes[..<first], limits)
        unverifiedPayload = payload
        self.signature = signature
        self.bytes = bytes
        payloadStart = first + 1
        signingInputCount = second
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
        do throws(JSONError) {
            return try StrictJSON.object(bytes, limits: limits.json)
        } catch {
            throw TokenRefusal(.malformed, "the \(part) is not one strict JSON object: \(error)")
        }
    }

    /// Finds two dots and looks no further: a third is no letter of base64url, so the signature is refused for it.
    /// Splitting would make an array of whatever is sent.
    private static func dots(in bytes: [UInt8]) throws(TokenRefusal) -> (Int, Int) {
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot), let second = bytes[(first + 1)...].firstIndex(of: dot) else {
            throw TokenRefusal(.malformed, "a token has three segments")
        }
        guard first > 0 else { throw TokenRefusal(.malformed, "the header is empty") }
        return (first, second)
    }

    /// Why the segments cannot be read; the text is within its limit here.
    private static func unreadable(_ bytes: [UInt8]) -> TokenRefusal {
        switch bytes.count(where: { $0 == UInt8(ascii: ".") }) {
        case 2: TokenRefusal(.malformed, "a segment is not base64url")
        case 4: TokenRefusal(.malformed, "five segments: encrypted tokens (JWE) are not read")
        default: TokenRefusal(.malformed, "a token has three segments")
        }
    }
}
