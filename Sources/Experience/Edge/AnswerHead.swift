import HTTPWire
import NIOCore

/// Writes the heads of the gateway's own answers.
enum AnswerHead {
    /// Status line and `Date`.
    static func begin(status: Int, date: String) -> ByteBuffer {
        var head = ByteBuffer()
        head.reserveCapacity(512)
        head.writeString("HTTP/1.1 \(status) \(reason(of: status))\r\nDate: \(date)\r\n")
        return head
    }

    /// One field. A value that could end the line is left out whole: it can only be a fault of our own.
    static func write(field name: String, _ value: String, to head: inout ByteBuffer) {
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else { return }
        head.writeString(name)
        head.writeStaticString(": ")
        head.writeString(value)
        head.writeStaticString("\r\n")
    }

    static func reason(of status: Int) -> String {
        reasons[status] ?? "Status"
    }

    private static let reasons: [Int: String] = [
        101: "Switching Protocols", 200: "OK", 201: "Created", 204: "No Content", 303: "See Other",
        304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 421: "Misdirected Request", 426: "Upgrade Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
    ]
}

extension Problem {
    /// The refusal of a malformed message, by the status that its fault asks for.
    init(wire error: WireError) {
        let code: ProblemCode = error.status == 431 || error.status == 414 ? .headerTooLarge : .badMessage
        self.init(code, status: error.status, reason: "\(error.reason)")
    }
}
