import BasicsForTests
import Foundation

/// An agent's socket as a test needs it: opened with any credentials, read one frame at a time.
final class AgentProbe {
    enum Frame: Equatable {
        case text(String)
        case close(Int, String)
        /// The connection ended without a close frame.
        case gone
    }

    struct Refused: Error { let answer: RawResponse }

    private let socket: RawSocket

    convenience init(
        _ gateway: any GatewayUnderTest, query: String = "", headers: [(String, String)] = []
    ) throws {
        try self.init(port: gateway.port, query: query, headers: headers)
    }

    convenience init(port: Int, query: String = "", headers: [(String, String)] = []) throws {
        self.init(try Self.upgraded(port, query: query, headers: headers))
    }

    convenience init(_ gateway: any GatewayUnderTest, _ user: LoggedIn) throws {
        let headers = [user.bearer, ("Session-Id", user.sessionID)]
        self.init(try Self.patiently { try Self.upgraded(gateway.port, headers: headers) })
        guard case .text(let ready) = try next(), ready.contains("\"ready\"") else {
            throw RawSocket.Failure(description: "no ready frame")
        }
    }

    private init(_ socket: RawSocket) { self.socket = socket }

    private static func upgraded(
        _ port: Int, query: String = "", headers: [(String, String)]
    ) throws -> RawSocket {
        let socket = try RawSocket(port: port)
        var head = "GET /api/runtime/agent\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        head += "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        head += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        try socket.send(head + "\r\n")
        let answer = try socket.response()
        guard answer.status == 101 else { throw Refused(answer: answer) }
        return socket
    }

    /// A gateway that the machine has stopped for seconds refuses new sockets until it has heard from its store again.
    private static func patiently(_ upgrade: () throws -> RawSocket) throws -> RawSocket {
        let socket = try blockingEventually { () -> RawSocket? in
            do {
                return try upgrade()
            } catch let refused as Refused where refused.answer.code == "store_unavailable" {
                return nil
            }
        }
        guard let socket else { throw RawSocket.Failure(description: "store_unavailable") }
        return socket
    }

    /// The status a socket with these credentials is refused with; 101 when it is not.
    static func status(_ gateway: any GatewayUnderTest, _ user: LoggedIn) throws -> RawResponse? {
        do {
            _ = try AgentProbe(gateway, headers: [user.bearer, ("Session-Id", user.sessionID)])
            return nil
        } catch let refused as Refused {
            return refused.answer
        }
    }

    /// The next frame that is no ping or pong.
    func next() throws -> Frame {
        while true {
            let head: [UInt8]
            do { head = try socket.read(2) } catch let failure as RawSocket.Failure where !failure.isTimeout {
                return .gone
            }
            var length = Int(head[1] & 0x7F)
            if length == 126 {
                length = try socket.read(2).reduce(0) { $0 << 8 | Int($1) }
            } else if length == 127 {
                length = try socket.read(8).reduce(0) { $0 << 8 | Int($1) }
            }
            let payload = try socket.read(length)
            switch head[0] & 0x0F {
            case 1: return .text(String(decoding: payload, as: UTF8.self))
            case 8:
                guard payload.count >= 2 else { return .close(1005, "") }
                return .close(
                    Int(payload[0]) << 8 | Int(payload[1]), String(decoding: payload.dropFirst(2), as: UTF8.self))
            default: continue
            }
        }
    }

    /// Reads on until the socket closes.
    func untilClosed() throws -> Frame {
        while true {
            let frame = try next()
            if case .text = frame { continue }
            return frame
        }
    }

    func send(_ text: String) throws {
        let payload = Array(text.utf8)
        var frame: [UInt8] = [0x81]
        if payload.count < 126 {
            frame.append(0x80 | UInt8(payload.count))
        } else {
            frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        }
        // A mask of zeros is a mask.
        try socket.send(frame + [0, 0, 0, 0] + payload)
    }

    /// Sends an intent and returns its event.
    func run(_ intent: String, id: String, params: String = "{}") throws -> String {
        try send("{\"type\":\"intent\",\"id\":\"\(id)\",\"intent\":\"\(intent)\",\"params\":\(params)}")
        while true {
            switch try next() {
            case .text(let text): if text.contains("\"id\":\"\(id)\"") { return text }
            case let end: throw RawSocket.Failure(description: "closed instead of an event: \(end)")
            }
        }
    }
}
