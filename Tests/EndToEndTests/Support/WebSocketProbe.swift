import BasicsForTests
import Foundation
import Synchronization

/// A WebSocket whose every bit a test writes and reads itself.
final class WebSocketProbe {
    /// One frame as it came.
    struct Frame: Equatable {
        var first: UInt8
        var payload: [UInt8]

        var opcode: UInt8 { first & 0x0F }
        var text: String { String(decoding: payload, as: UTF8.self) }
        /// Of a Close: the code, 1005 when there is none.
        var code: Int { payload.count < 2 ? 1005 : Int(payload[0]) << 8 | Int(payload[1]) }
        var reason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any] ?? [:] }
    }

    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    let socket: RawSocket
    let answer: RawResponse

    /// Sends one upgrade request and reads any answer.
    ///
    /// - Parameters:
    ///   - fields: the handshake's fields; others are added by `headers`.
    ///   - extra: bytes sent in the same packet, behind the request.
    init(
        _ gateway: any GatewayUnderTest, _ path: String, headers: [(String, String)] = [],
        fields: [(String, String)]? = nil, requestLine: String? = nil, extra: [UInt8] = [],
        receiveBuffer: Int32? = nil
    ) throws {
        socket = try RawSocket(port: gateway.port, receiveBuffer: receiveBuffer)
        var text = (requestLine ?? "GET \(path) HTTP/1.1") + "\r\nHost: 127.0.0.1:\(gateway.port)\r\n"
        for (name, value) in (fields ?? Self.handshake) + headers { text += "\(name): \(value)\r\n" }
        try socket.send(Array((text + "\r\n").utf8) + extra)
        answer = try socket.response()
    }

    static let handshake = [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", key),
    ]

    /// The handshake with one field changed, or left out where `value` is nil.
    static func handshake(_ name: String, _ value: String?) -> [(String, String)] {
        handshake.compactMap { field in
            field.0 == name ? value.map { (name, $0) } : field
        }
    }

    var isOpen: Bool { answer.status == 101 }

    // MARK: Frames

    static func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = true,
        length: [UInt8]? = nil
    ) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        if let length {
            bytes += [mask | length[0]] + length.dropFirst()
        } else if payload.count < 126 {
            bytes.append(mask | UInt8(payload.count))
        } else if payload.count < 65536 {
            bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        } else {
            bytes.append(mask | 127)
            bytes += (0..<8).map { UInt8(payload.count >> (56 - 8 * $0) & 0xFF) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        bytes += key
        bytes.reserveCapacity(bytes.count + payload.count)
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
        return bytes
    }

    static func close(_ code: Int, _ reason: String = "") -> [UInt8] {
        frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    func send(_ bytes: [UInt8]) throws { try socket.send(bytes) }
    func send(text: String) throws { try socket.send(Self.frame(1, Array(text.utf8))) }

    /// The next frame; nil when the connection has ended. The gateway never masks.
    func next() throws -> Frame? {
        let head: [UInt8]
        do { head = try socket.read(2) } catch let failure as RawSocket.Failure where !failure.isTimeout { return nil }
        var length = Int(head[1])
        if length == 126 {
            length = try socket.read(2).reduce(0) { $0 << 8 | Int($1) }
        } else if length == 127 {
            length = try socket.read(8).reduce(0) { $0 << 8 | Int($1) }
        }
        guard head[1] < 0x80 else { throw RawSocket.Failure(description: "a masked frame from a server") }
        return Frame(first: head[0], payload: try socket.read(length))
    }

    /// The next frame that is no ping; nil when the connection has ended.
    func message() throws -> Frame? {
        while let frame = try next() {
            if frame.opcode != 9 { return frame }
        }
        return nil
    }

    /// Code and reason of the Close that comes next, messages before it passed over; nil when none comes.
    func closing() throws -> String? {
        while let frame = try next() {
            if frame.opcode == 8 { return "\(frame.code) \(frame.reason)" }
        }
        return nil
    }
}

extension LoggedIn {
    /// The documented carrier.
    var query: String { "access_token=\(token)&session_id=\(sessionID)" }

    /// The expiry of the access token, in seconds since the epoch.
    var tokenExpiry: Double { Self.expiry(of: token) }

    static func expiry(of token: String) -> Double {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return 0 }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        let claims = Data(base64Encoded: text).flatMap { try? JSONSerialization.jsonObject(with: $0) }
        return (claims as? [String: Any])?["exp"] as? Double ?? 0
    }
}

extension GatewayUnderTest {
    func socket(
        _ path: String, headers: [(String, String)] = [], extra: [UInt8] = []
    ) throws -> WebSocketProbe {
        try WebSocketProbe(self, path, headers: headers, extra: extra)
    }

    /// A socket that must open; an agent's is read up to its `ready`.
    func opened(_ path: String, headers: [(String, String)] = []) throws -> WebSocketProbe {
        // A gateway that the machine has stopped for seconds refuses new sockets until it has heard from its store again.
        let answered = try blockingEventually { () -> WebSocketProbe? in
            let probe = try socket(path, headers: headers)
            return !probe.isOpen && probe.answer.code == "store_unavailable" ? nil : probe
        }
        guard let probe = answered else { throw Failure(description: "\(path): store_unavailable") }
        guard probe.isOpen else {
            throw Failure(description: "\(path): \(probe.answer.status) \(probe.answer.text)")
        }
        if path.hasPrefix("/api/runtime/agent"), try probe.message()?.json["type"] as? String != "ready" {
            throw Failure(description: "no ready")
        }
        return probe
    }

    func ticket(_ user: LoggedIn, origin: String? = nil) throws -> String {
        var headers = [user.bearer]
        if let origin { headers.append(("Origin", origin)) }
        let answer = try request("POST", "/api/session/\(user.sessionID)/ticket", headers: headers)
        return answer.json["ticket"] as? String ?? ""
    }
}

/// A blocking job on a thread of its own, whose outcome is waited for later: nothing here depends on how busy the
/// test runner's own threads are.
final class Running<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ job: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let result = Result { try job() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    /// Waits for it; to be asked once.
    func value() throws -> Value? {
        done.wait()
        return try outcome.withLock { $0 }?.get()
    }
}
