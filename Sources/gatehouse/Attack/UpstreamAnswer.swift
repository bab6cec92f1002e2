import HostileTokens

/// The answers of the suite's own upstream. The query of the request says which one.
enum UpstreamAnswer {
    private static let body = "the suite's own upstream\n"

    /// - Parameter line: the request line.
    static func text(for line: String) -> String {
        switch parameter("answer", of: line) {
        case "twice": return plain() + plain(body: AnswerText.poison + "\n")
        case "length-and-coding":
            return "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        case "two-lengths": return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nokok"
        case "coding-unknown": return "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        case "cookie": return plain(fields: "Set-Cookie: gatehouse=sec_x; Path=/\r\n")
        default: break
        }
        guard let id = parameter("open-session", of: line) else { return plain() }
        return plain(fields: "Mcp-Session-Id: \(id)\r\n")
    }

    private static func plain(body: String = body, fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The letters and digits behind a parameter's name.
    private static func parameter(_ name: String, of line: String) -> String? {
        guard let start = line.firstRange(of: name + "=") else { return nil }
        let value = line[start.upperBound...].prefix { $0 == "-" || ($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return value.isEmpty ? nil : String(value)
    }
}
