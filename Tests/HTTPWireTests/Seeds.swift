import Foundation
import RandomForTests

/// The messages that the fuzzers mutate, and the pieces that they insert.
enum Seeds {
    static let requests: [String] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a/b.c?d=e&f HTTP/1.1\r\nHost: a.example:80\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\nA;c=\"d\"\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n",
        "POST /x HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nabGET /3 HTTP/1.0\r\n\r\n",
        "GET http://a.example/p?q HTTP/1.1\r\nHost: a.example\r\nUser-Agent: \tx y \t\r\nX-Empty:\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nDELETE /y HTTP/1.1\r\nHost: [::1]:9\r\n\r\n",
        "GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n",
        "\r\nHEAD /h HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nCookie: a=b\r\nCookie: \u{e9}\r\n\r\n",
    ]

    static let responses: [String] = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        "HTTP/1.1 500 \r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\nx\r\n0\r\nT: v\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    ]

    static let pieces: [String] = [
        "\r\n", "\n", "\r", " ", "\t", ":", ";", ",", "\0", "\u{b}", "\u{7f}", "\u{80}", "0", "1", "5", "a", "A", "%",
        "%2e", "#", "?",
        "/", "//", "*", "@", "[", "]", "\"", "\\", "=", "+", "-", "_", "0x", "chunked", "identity", "gzip, ", "close",
        "upgrade",
        "Content-Length: 5\r\n", "Content-Length: 0\r\n", "content-length:5\r\n", "Content-Length : 5\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n", "transfer-encoding:chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Host: b\r\n", "Connection: close\r\n", "Connection: upgrade\r\n",
        "Upgrade: h2c\r\n",
        " folded\r\n", "\r\n\r\n", "0\r\n\r\n", "5\r\nhello\r\n", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "FFFFFFFFFFFFFFFF", "18446744073709551621",
    ]

    /// One to four random changes to `bytes`.
    static func mutate(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let position = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes.insert(contentsOf: Wire.bytes(pieces.randomElement(using: &generator) ?? ""), at: position)
            case 1 where position < bytes.count: bytes[position] = UInt8.random(in: 0...255, using: &generator)
            case 2 where position < bytes.count: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 3 where position < bytes.count: bytes.remove(at: position)
            case 4:
                let end = min(bytes.count, position + Int.random(in: 0...20, using: &generator))
                let piece = Wire.bytes(pieces.randomElement(using: &generator) ?? "")
                bytes.replaceSubrange(position..<end, with: piece)
            default:
                let end = min(bytes.count, position + Int.random(in: 0...40, using: &generator))
                bytes.insert(contentsOf: bytes[position..<end], at: Int.random(in: 0...bytes.count, using: &generator))
            }
        }
        return bytes
    }
}

/// The duration and the seed of the fuzzers: two seconds with a fixed seed, unless the environment sets others.
enum FuzzPlan {
    static let time = Duration.seconds(environment("WIRE_FUZZ_SECONDS") ?? 2)
    static let maxRounds = environment("WIRE_FUZZ_SECONDS") == nil ? 20_000 : Int.max
    static func seed(_ number: UInt64) -> UInt64 { number &+ UInt64(environment("WIRE_FUZZ_SEED") ?? 0) }

    private static func environment(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}
