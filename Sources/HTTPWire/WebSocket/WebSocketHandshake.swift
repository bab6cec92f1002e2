import NIOCore

/// Checks the opening handshake (RFC 6455 section 4) of a client and the answer of an upstream.
///
/// This module has no cryptography, so callers pass SHA-1 in as a function.
public enum WebSocketHandshake {
    /// The result of checking a request.
    public enum Verdict: Sendable {
        /// A valid handshake, with the range of the value of `Sec-WebSocket-Key`.
        case accepted(key: ByteRange)
        /// An ordinary request without an `Upgrade` field.
        case notOffered
        /// `Sec-WebSocket-Version` is not present exactly once with the value 13: the answer is 426 with the supported
        /// version.
        case unsupportedVersion
        /// Not a valid handshake: the answer is 400. The reason is for the log.
        case refused(reason: StaticString)
    }

    /// Checks all conditions of RFC 6455 section 4.2.1, and that the fields that may occur once do.
    public static func judge(_ head: RequestHead) -> Verdict {
        guard head.upgradeOffered else { return .notOffered }
        guard head.knownMethod == .get else { return .refused(reason: "method is not GET") }
        guard head.versionMinor == 1 else { return .refused(reason: "HTTP/1.0") }
        guard let upgrade = head.only(.upgrade), head.equals(upgrade.value, "websocket") else {
            return .refused(reason: "Upgrade is not exactly websocket")
        }
        guard head.connectionSaysUpgrade else { return .refused(reason: "Connection does not list upgrade") }
        guard head.framing == .none || head.framing == .length(0) else { return .refused(reason: "a body") }
        guard let version = head.only(.secWebSocketVersion), head.equals(version.value, "13") else {
            return .unsupportedVersion
        }
        guard let key = head.only(.secWebSocketKey), head.withBytes(key.value, isKey) else {
            return .refused(reason: "Sec-WebSocket-Key is not 16 bytes in base64")
        }
        return .accepted(key: key.value)
    }

    /// The value of `Sec-WebSocket-Accept` for the key of an accepted request (RFC 6455 section 4.2.2).
    public static func accept(
        _ key: ByteRange, of head: RequestHead, sha1: ([UInt8]) -> [UInt8]
    ) -> String {
        let suffix: StaticString = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        var input: [UInt8] = []
        input.reserveCapacity(key.count + suffix.utf8CodeUnitCount)
        head.withBytes(key) { input.append(contentsOf: $0) }
        suffix.withUTF8Buffer { input.append(contentsOf: $0) }
        return base64(sha1(input))
    }

    /// Checks the answer of an upstream (RFC 6455 section 4.1).
    ///
    /// - Parameters:
    ///   - answer: the upstream's response.
    ///   - request: the request that was sent. A subprotocol must be one that it offered; extensions may be present
    ///     only if it offered some.
    ///   - accept: the value of `Sec-WebSocket-Accept` that the key demands.
    /// - Returns: nil if the answer may become a tunnel, otherwise the reason why not, for the log.
    public static func faultOfAnswer(
        _ answer: ResponseHead, to request: RequestHead, accept: String
    ) -> StaticString? {
        guard answer.status == 101, answer.versionMinor == 1 else { return "not 101 in HTTP/1.1" }
        guard let upgrade = answer.only(.upgrade), answer.equals(upgrade.value, "websocket") else {
            return "Upgrade is not exactly websocket"
        }
        guard answer.connectionSaysUpgrade else { return "Connection does not list upgrade" }
        guard let field = answer.only(.secWebSocketAccept),
            answer.withBytes(field.value, { $0.elementsEqual(accept.utf8) })
        else { return "wrong Sec-WebSocket-Accept" }
        if answer.present.contains(.secWebSocketProtocol) {
            guard let chosen = answer.only(.secWebSocketProtocol), offers(request, chosen.value, of: answer) else {
                return "a subprotocol that was not offered"
            }
        }
        if answer.present.contains(.secWebSocketExtensions), !request.present.contains(.secWebSocketExtensions) {
            return "an extension that was not offered"
        }
        return nil
    }

    /// Whether `request` offers the subprotocol in the range `chosen`, compared as bytes.
    private static func offers(_ request: RequestHead, _ chosen: ByteRange, of answer: ResponseHead) -> Bool {
        answer.withBytes(chosen) { wanted in
            request.bytes.withUnsafeReadableBytes { bytes in
                for field in request.fields where field.id == .secWebSocketProtocol {
                    var list = TokenList(field.value)
                    while case .token(let token) = list.next(in: bytes) {
                        if bytes[token.start..<token.end].elementsEqual(wanted) { return true }
                    }
                }
                return false
            }
        }
    }

    /// Whether the bytes are 16 bytes in base64: 22 digits and two padding characters. The four unused bits of the last
    /// digit are not checked, because an example in RFC 6455 section 4.1 sets one of them.
    private static func isKey(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == 24 && bytes.prefix(22).allSatisfy(ByteClass.base64.contains)
            && bytes.suffix(2).allSatisfy { $0 == Byte.equals }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func base64(_ bytes: [UInt8]) -> String {
        let count = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: count) { text in
            var written = 0
            var position = 0
            while position < bytes.count {
                let left = bytes.count - position
                let first = Int(bytes[position]) << 16
                let second = left > 1 ? Int(bytes[position + 1]) << 8 : 0
                let third = left > 2 ? Int(bytes[position + 2]) : 0
                let bits = first | second | third
                for digit in 0..<4 {
                    text[written] = digit > left ? Byte.equals : alphabet[bits >> (18 - digit * 6) & 0x3F]
                    written += 1
                }
                position += 3
            }
            return written
        }
    }
}
