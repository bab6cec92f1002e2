/// Why a message was refused.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rules that a message can break.
    public enum Code: String, Sendable, CaseIterable {
        /// A malformed status line (RFC 9112 section 4).
        case startLine
        /// A method that is malformed, too long, or has lower-case letters.
        case method
        /// A malformed request target (RFC 9112 section 3.2).
        case target
        /// A request target over ``WireLimits/maxTarget``.
        case targetTooLong
        /// A malformed HTTP version (RFC 9112 section 2.3).
        case version
        /// A version other than HTTP/1.0 and HTTP/1.1.
        case unsupportedVersion
        /// A status outside 100 to 599, or an interim response that closes the connection or uses HTTP/1.0.
        case status
        /// A bare CR or LF, or more than one empty line before a request (RFC 9112 section 2.2).
        case lineEnding
        /// An empty field name, or one that is not a token (RFC 9110 section 5.1).
        case fieldName
        /// A field line that begins with white space (RFC 9112 section 5.2).
        case obsoleteFolding
        /// A control byte in a field value (RFC 9110 section 5.5).
        case fieldValue
        /// A head over ``WireLimits/maxHead``.
        case headTooLong
        /// More field lines than ``WireLimits/maxFields``.
        case tooManyFields
        /// A `Content-Length` that is not one decimal number, or is padded (RFC 9110 section 8.6).
        case contentLength
        /// More than one `Content-Length`, equal or not.
        case duplicateContentLength
        /// A `Transfer-Encoding` that is malformed, repeated or not allowed where it is (RFC 9112 section 6.1).
        case transferEncoding
        /// A well-formed transfer coding that is not supported.
        case unknownTransferCoding
        /// `Transfer-Encoding` together with `Content-Length` (RFC 9112 section 6.3).
        case transferEncodingWithContentLength
        /// `Transfer-Encoding` in HTTP/1.0.
        case transferEncodingInHTTP10
        /// A `Host` that is not a host with an optional port (RFC 9110 section 7.2).
        case host
        /// An HTTP/1.1 request without `Host` (RFC 9112 section 3.2).
        case missingHost
        /// More than one `Host`.
        case duplicateHost
        /// A `Host` that differs from the authority of an absolute target.
        case hostMismatch
        /// A `Connection` that is not a list of tokens, or has too many (RFC 9110 section 7.6.1).
        case connection
        /// An `Expect` other than one `100-continue` (RFC 9110 section 10.1.1).
        case expectation
        /// A malformed or too large chunk size, or a chunk without its line end (RFC 9112 section 7.1).
        case chunk
        /// Chunk extensions that are malformed or too long.
        case chunkExtension
        /// Trailers that are malformed, too long, or would frame or route the message (RFC 9110 section 6.5.1).
        case trailer
        /// The connection closed before the end of the body.
        case truncatedBody
        /// A path that has no canonical form: see ``CanonicalPath``.
        case path
        /// A broken escape in the value of a query parameter that was asked for.
        case query
        /// More query parameters than ``RequestQuery/maxPairs``.
        case tooManyParameters
    }

    /// The rule that was broken.
    public let code: Code
    /// A fixed phrase for the log, which quotes no input.
    public let reason: StaticString

    /// An error for a broken rule.
    public init(_ code: Code, _ reason: StaticString) {
        self.code = code
        self.reason = reason
    }

    /// The status of the answer to a request that was refused. A response that was refused is always answered with 502.
    public var status: Int {
        switch code {
        case .targetTooLong: 414
        case .headTooLong, .tooManyFields: 431
        case .expectation: 417
        case .unknownTransferCoding: 501
        case .unsupportedVersion: 505
        default: 400
        }
    }

    /// Code and reason.
    public var description: String { "\(code.rawValue): \(reason)" }

    /// Equality of the codes; reasons are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
