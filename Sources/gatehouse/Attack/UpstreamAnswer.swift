import Foundation
import HostileTokens
import Libcrypto

/// The answers of the suite's own upstream. The query of the request says which one.
struct UpstreamAnswer {
    /// What an answer without a fault has as its content.
    private static let body = "the suite's own upstream\n"

    /// The bytes of the answer, head and content. Faulty on purpose if the request asks for that.
    let text: String
    /// Whether the connection is closed behind it.
    let closes: Bool

    /// - Parameter request: the request, of which the first line and the key of a WebSocket are read.
    init(to request: [UInt8]) {
        let head = Self.Asked(request)
        let kind = Self.parameter("answer", of: head.line)
        closes = kind == "short"
        if let kind, kind.hasPrefix("switch") {
            text = Self.switching(String(kind.dropFirst("switch".count)), head)
        } else if let kind {
            text = Self.faulty(kind)
        } else if head.upgrade == "websocket" {
            text = Self.switching("", head)
        } else if let id = Self.parameter("open-session", of: head.line) {
            text = Self.plain(fields: "Mcp-Session-Id: \(id)\r\n")
        } else {
            text = Self.plain()
        }
    }

    // MARK: Plain answers

    /// The answer with one fault, by the name of the fault.
    private static func faulty(_ kind: String) -> String {
        let poison = plain(body: AnswerText.poison + "\n")
        switch kind {
        case "twice": return plain() + poison
        case "body-of-304": return "HTTP/1.1 304 Not Modified\r\nContent-Length: \(poison.utf8.count)\r\n\r\n" + poison
        case "body-of-204": return "HTTP/1.1 204 No Content\r\n\r\n" + poison
        case "body-of-head": return "HTTP/1.1 200 OK\r\nContent-Length: \(poison.utf8.count)\r\n\r\n" + poison
        case "length-and-coding":
            return "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        case "two-lengths": return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nokok"
        case "coding-unknown": return "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        case "carriage-return": return plain(fields: "X-Any: a\rX-Hidden: b\r\n")
        case "nul": return plain(fields: "X-Any: a\0b\r\n")
        case "folded": return plain(fields: "X-Any: a\r\n X-Hidden: b\r\n")
        case "short": return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\npart"
        case "kept": return plain(fields: "Cache-Control: public, max-age=600\r\n")
        case "refuse": return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
        case "cookie": return plain(fields: "Set-Cookie: gatehouse=sec_x; Path=/\r\n")
        default: return plain()
        }
    }

    /// An answer without a fault.
    private static func plain(body: String = body, fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    // MARK: 101

    /// - Parameter fault: what is wrong with it; empty for a right one.
    private static func switching(_ fault: String, _ asked: Asked) -> String {
        let upgrade = fault == "-h2c" ? "h2c" : fault == "-protocol" ? "tunnel/1" : "websocket"
        let accept = fault == "-accept" ? "AAAAAAAAAAAAAAAAAAAAAAAAAAA=" : asked.accept
        var lines = ["HTTP/1.1 101 Switching Protocols"]
        if fault != "-no-upgrade" { lines.append("Upgrade: \(upgrade)") }
        if fault != "-no-connection" { lines.append("Connection: Upgrade") }
        if fault != "-accept-missing" { lines.append("Sec-WebSocket-Accept: \(accept)") }
        if fault == "-subprotocol" { lines.append("Sec-WebSocket-Protocol: nobody.offered") }
        if fault == "-extension" { lines.append("Sec-WebSocket-Extensions: permessage-deflate") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// What is read of a request.
    private struct Asked {
        /// The request line, whose query names the answer; empty if there is none.
        let line: String
        /// The protocol of `Upgrade`, in lower case; empty without that field.
        var upgrade = ""
        /// `Sec-WebSocket-Key`, as it came; empty without that field.
        private var key = ""

        init(_ request: [UInt8]) {
            let end = request.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound ?? request.endIndex
            let lines = String(decoding: request[..<end], as: UTF8.self).split(separator: "\r\n")
            line = lines.first.map(String.init) ?? ""
            for field in lines.dropFirst() {
                guard let colon = field.firstIndex(of: ":") else { continue }
                let value = field[field.index(after: colon)...].trimmingPrefix(" ")
                switch field[..<colon].lowercased() {
                case "upgrade": upgrade = value.lowercased()
                case "sec-websocket-key": key = String(value)
                default: break
                }
            }
        }

        /// `Sec-WebSocket-Accept` for the key (RFC 6455 section 4.2.2).
        var accept: String {
            let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            return Data(Digest.handshakeSHA1(Array(text.utf8))).base64EncodedString()
        }
    }

    /// The letters and digits behind a parameter's name.
    private static func parameter(_ name: String, of line: String) -> String? {
        guard let start = line.firstRange(of: name + "=") else { return nil }
        let value = line[start.upperBound...].prefix { $0 == "-" || ($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return value.isEmpty ? nil : String(value)
    }
}
