/// The values of the framing and connection fields of a head, collected while the fields are parsed.
///
/// A rule that one field can break is checked when that field is parsed, so that nothing after it is read.
struct MessageFacts: Sendable {
    /// Whose rules apply. `Host` and `Expect` are read in requests only, and padding that is tolerated in a response's
    /// framing fields is refused in a request's.
    enum Kind: Sendable {
        case request
        case response
    }

    /// Whitespace around a value other than one space before it.
    enum Padding: UInt8, Sendable {
        case none
        case spaces
        case tabs
    }

    /// The largest number of names in all `Connection` lines together.
    static let maxConnectionOptions = 32

    let kind: Kind
    /// 0 for HTTP/1.0, 1 for HTTP/1.1; set from the start line before a field is noted.
    var versionMinor: UInt8 = 1
    /// The value of `Content-Length`, 0 to `Int64.max`; nil without the field.
    var contentLength: Int64?
    /// Whether `Transfer-Encoding` is exactly `chunked`. It excludes ``contentLength``.
    var isChunked = false
    /// The value of a request's `Host`, which ``HostRule`` has accepted.
    var host: ByteRange?
    /// The number of names that all `Connection` lines listed so far.
    var connectionOptions = 0
    var saysClose = false
    var saysKeepAlive = false
    var saysUpgrade = false
    /// The names in `Connection` that mean other fields: those are not forwarded (RFC 9110 section 7.6.1).
    var nominated: [ByteRange] = []
    /// Whether a request has `Expect: 100-continue`, whatever its version.
    var expectsContinue = false

    init(kind: Kind) { self.kind = kind }

    /// Checks and records one field.
    ///
    /// - Parameters:
    ///   - field: a field line; those of ``KnownField/other`` are not passed.
    ///   - padding: the whitespace around its value.
    ///   - bytes: the head that the ranges of `field` belong to.
    /// - Throws: a ``WireError`` with the code of the field. Nothing after this field may be read then.
    mutating func note(_ field: HeaderField, padding: Padding, _ bytes: UnsafeRawBufferPointer) throws(WireError) {
        switch field.id {
        case .contentLength: try noteContentLength(field.value, padding, bytes)
        case .transferEncoding: try noteTransferEncoding(field.value, padding, bytes)
        case .connection:
            guard padding != .tabs else { throw WireError(.connection, "Connection is not a list of tokens") }
            try noteConnection(field.value, bytes)
        case .host where kind == .request:
            guard host == nil else { throw WireError(.duplicateHost, "more than one Host") }
            guard HostRule.accepts(bytes, field.value) else { throw WireError(.host, "Host is not a host and port") }
            host = field.value
        case .expect where kind == .request:
            guard ByteScan.equals(bytes, field.value, "100-continue"), !expectsContinue else {
                throw WireError(.expectation, "an expectation other than 100-continue")
            }
            expectsContinue = true
        default: break
        }
    }

    private mutating func noteContentLength(
        _ value: ByteRange, _ padding: Padding, _ bytes: UnsafeRawBufferPointer
    ) throws(WireError) {
        guard contentLength == nil else {
            throw WireError(.duplicateContentLength, "more than one Content-Length")
        }
        guard !isChunked else { throw Self.bothFramings }
        if isTooMuch(padding) || (kind == .request && value.count > 1 && bytes[value.start] == Byte.zero) {
            throw WireError(.contentLength, "padded Content-Length")
        }
        guard (1...19).contains(value.count) else { throw Self.badLength }
        var length: Int64 = 0
        for position in value.start..<value.end {
            guard bytes[position].isDigit else { throw Self.badLength }
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int64(bytes[position] &- Byte.zero))
            guard !overflow, !carry else { throw Self.badLength }
            length = sum
        }
        contentLength = length
    }

    private mutating func noteTransferEncoding(
        _ value: ByteRange, _ padding: Padding, _ bytes: UnsafeRawBufferPointer
    ) throws(WireError) {
        guard contentLength == nil else { throw Self.bothFramings }
        guard versionMinor == 1 else {
            throw WireError(.transferEncodingInHTTP10, "Transfer-Encoding in HTTP/1.0")
        }
        guard !isChunked else { throw Self.badEncoding }
        if isTooMuch(padding) { throw WireError(.transferEncoding, "padded Transfer-Encoding") }
        if ByteScan.equals(bytes, value, "chunked") {
            isChunked = true
            return
        }
        throw Self.otherEncoding(value, bytes)
    }

    /// Whether a framing field has whitespace that is not accepted. In requests it is a means of smuggling; some old
    /// servers pad their responses with spaces.
    private func isTooMuch(_ padding: Padding) -> Bool {
        padding == .tabs || (padding == .spaces && kind == .request)
    }

    /// The error for a transfer coding other than `chunked` alone: malformed, or well-formed and not supported.
    private static func otherEncoding(_ value: ByteRange, _ bytes: UnsafeRawBufferPointer) -> WireError {
        guard !value.isEmpty else { return badEncoding }
        var list = TokenList(value)
        var sawChunked = false
        while true {
            switch list.next(in: bytes) {
            case .malformed: return badEncoding
            case .end: return WireError(.unknownTransferCoding, "unknown transfer coding")
            case .token(let token):
                // `chunked` once and last is correct framing of a coding that is not supported; anywhere else it is
                // malformed.
                if sawChunked || ByteScan.equals(bytes, token, "identity") { return badEncoding }
                sawChunked = ByteScan.equals(bytes, token, "chunked")
            }
        }
    }

    private mutating func noteConnection(_ value: ByteRange, _ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var list = TokenList(value)
        while true {
            switch list.next(in: bytes) {
            case .end: return
            case .malformed: throw WireError(.connection, "Connection is not a list of tokens")
            case .token(let token):
                connectionOptions += 1
                guard connectionOptions <= Self.maxConnectionOptions else {
                    throw WireError(.connection, "Connection lists too many names")
                }
                noteConnectionOption(token, bytes)
            }
        }
    }

    private mutating func noteConnectionOption(_ token: ByteRange, _ bytes: UnsafeRawBufferPointer) {
        if ByteScan.equals(bytes, token, "keep-alive") {
            saysKeepAlive = true
        } else if ByteScan.equals(bytes, token, "close") {
            saysClose = true
        } else if ByteScan.equals(bytes, token, "upgrade") {
            saysUpgrade = true
        } else {
            nominated.append(token)
        }
    }

    /// Whether the connection persists (RFC 9112 section 9.3): in HTTP/1.1 unless `close` is listed, in HTTP/1.0 only
    /// if a request lists `keep-alive`.
    var keepsAlive: Bool {
        guard !saysClose else { return false }
        return versionMinor == 1 || (saysKeepAlive && kind == .request)
    }

    private static var bothFramings: WireError {
        WireError(.transferEncodingWithContentLength, "Transfer-Encoding together with Content-Length")
    }
    private static var badLength: WireError {
        WireError(.contentLength, "Content-Length is not one decimal number")
    }
    private static var badEncoding: WireError {
        WireError(.transferEncoding, "Transfer-Encoding is not exactly chunked")
    }
}
