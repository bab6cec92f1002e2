import NIOCore

/// Judges the opening handshake of RFC 6455 §4, from the client and from an upstream.
///
/// SHA-1 is a guest here: this room has no cryptography, so the caller lends the function.
package enum WebSocketHandshake {
    /// What a request is, seen as a handshake.
    package enum Verdict: Sendable {
        /// A sound handshake; the key is where `Sec-WebSocket-Key` has it.
        case accepted(key: ByteRange)
        /// There is no `Upgrade` field: an ordinary request.
        case notOffered
        /// `Sec-WebSocket-Version` is not exactly one 13: 426, naming the version that is spoken.
        case unsupportedVersion
        /// 400.
        case refused(reason: StaticString)
    }

    /// Judges a request: every condition of §4.2.1, each field that must be alone counted.
    package static func judge(_ head: RequestHead) -> Verdict {
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

    /// The value of `Sec-WebSocket-Accept` for the key of an accepted request.
    package static func accept(
        _ key: ByteRange, of head: RequestHead, sha1: ([UInt8]) -> [UInt8]
    ) -> String {
        var input = head.withBytes(key) { Array($0) }
        input.append(contentsOf: "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        return base64(sha1(input))
    }

    /// Why an upstream's 101 must not become a tunnel; nil when it may.
    ///
    /// `accept` is what the key that was sent demands. A subprotocol must be one that was offered, an extension may
    /// only be there when some were offered: what was offered is read from `request`.
    package static func faultOfAnswer(
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

    /// Whether `request` offers the subprotocol at `chosen`, compared byte by byte.
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

    /// Sixteen bytes are 22 digits and two paddings. The four bits that the last digit has left over are not looked at:
    /// the RFC's own example of §4.1 sets one.
    private static func isKey(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == 24 && bytes.prefix(22).allSatisfy(ByteClass.base64.contains)
            && bytes.suffix(2).allSatisfy { $0 == Byte.equals }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let group = bytes[position..<min(position + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | Int($1) }
            bits <<= (3 - group.count) * 8
            for digit in 0..<4 {
                text.append(digit > group.count ? Byte.equals : alphabet[bits >> (18 - digit * 6) & 0x3F])
            }
            position += 3
        }
        return String(decoding: text, as: UTF8.self)
    }
}
