import Foundation
import NIOCore
import NIOHPACK

/// An HTTP/2 request written as the head of an HTTP/1.1 request.
package struct HTTP2RequestText {
    package private(set) var text: ByteBuffer
    let isTunnel: Bool
    let isChunked: Bool
    let isHead: Bool

    package mutating func take() -> ByteBuffer { text }

    /// nil for what no HTTP/1.1 head can say, or what HTTP/2 forbids.
    package static func head(of headers: HPACKHeaders, endsStream: Bool) -> HTTP2RequestText? {
        guard let pseudo = Pseudo(headers) else { return nil }
        let isTunnel = pseudo.protocolName == "websocket"
        if pseudo.protocolName != nil, !isTunnel { return nil }
        // `:protocol` goes with CONNECT and nothing else (RFC 8441 section 4).
        guard isTunnel == (pseudo.method == "CONNECT") else { return nil }
        var text = ByteBuffer()
        text.writeString("\(isTunnel ? "GET" : pseudo.method) \(pseudo.path) HTTP/1.1\r\nHost: \(pseudo.authority)\r\n")
        var cookies: [String] = []
        var hasLength = false
        var hasHost = false
        for (name, value, _) in headers where !name.hasPrefix(":") {
            guard isFieldName(name), isFieldValue(value) else { return nil }
            switch name {
            case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings":
                return nil
            case "te":
                if value != "trailers" { return nil }
                continue
            case "host":
                // Two names for one thing must agree, and there are no three.
                guard !hasHost, value.lowercased() == pseudo.authority.lowercased() else { return nil }
                hasHost = true
                continue
            case "cookie":
                cookies.append(value)
                continue
            case "content-length":
                hasLength = true
            case "sec-websocket-key":
                if isTunnel { continue }
            default: break
            }
            text.writeString("\(name): \(value)\r\n")
        }
        if !cookies.isEmpty { text.writeString("cookie: \(cookies.joined(separator: "; "))\r\n") }
        if isTunnel {
            // RFC 8441 has no key; an upstream that is asked over HTTP/1.1 gets one as random as a client's.
            text.writeStaticString("Connection: Upgrade\r\nUpgrade: websocket\r\n")
            text.writeString("Sec-WebSocket-Key: \(randomKey())\r\n")
        }
        let isChunked = !endsStream && !hasLength && !isTunnel
        if isChunked { text.writeStaticString("Transfer-Encoding: chunked\r\n") }
        text.writeStaticString("\r\n")
        return HTTP2RequestText(text: text, isTunnel: isTunnel, isChunked: isChunked, isHead: pseudo.method == "HEAD")
    }

    /// Sixteen random bytes in base64.
    private static func randomKey() -> String {
        var generator = SystemRandomNumberGenerator()
        let halves: [UInt64] = [generator.next(), generator.next()]
        return halves.withUnsafeBytes { Data($0) }.base64EncodedString()
    }

    private struct Pseudo {
        var method = ""
        var path = ""
        var authority = ""
        var protocolName: String?

        init?(_ headers: HPACKHeaders) {
            var scheme: String?
            var seen: Set<String> = []
            for (name, value, _) in headers where name.hasPrefix(":") {
                guard seen.insert(name).inserted, HTTP2RequestText.isFieldValue(value) else { return nil }
                switch name {
                case ":method": method = value
                case ":path": path = value
                case ":scheme": scheme = value
                case ":authority": authority = value
                case ":protocol": protocolName = value
                default: return nil
                }
            }
            if authority.isEmpty { authority = headers.first(name: "host") ?? "" }
            // `*` is for OPTIONS alone (RFC 9113 section 8.3.1), and refused where the same is over HTTP/1.1.
            let isAsterisk = path == "*" && method == "OPTIONS"
            guard scheme == "https" || scheme == "http", path.hasPrefix("/") || isAsterisk, !authority.isEmpty,
                !method.isEmpty, !path.utf8.contains(0x20), !method.utf8.contains(0x20), !authority.utf8.contains(0x20)
            else { return nil }
        }
    }

    /// A byte that is no UTF-8 has become U+FFFD when SwiftNIO gives it here. It can't be forwarded as it was sent, so it
    /// is not forwarded at all.
    fileprivate static func isFieldValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f } && !value.unicodeScalars.contains("\u{FFFD}")
    }

    private static func isFieldName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7a: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
