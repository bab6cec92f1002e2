/// A WebSocket handshake (RFC 6455 section 4.1) of which every part can be changed.
struct Handshake: Sendable {
    var method = "GET"
    var version = "HTTP/1.1"
    var query: [UInt8] = []
    var fields: [(name: String, value: [UInt8])] = [
        ("Connection", Array("Upgrade".utf8)), ("Upgrade", Array("websocket".utf8)),
        ("Sec-WebSocket-Version", Array("13".utf8)), ("Sec-WebSocket-Key", Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)),
    ]

    /// A handshake without credentials.
    init() {}

    /// A handshake with a token, and with a session if the target requires one.
    init(carrying token: [UInt8], session: String?, over transport: Transport, to target: Target) {
        var parameters: [(String, [UInt8])] = []
        var offers: [[UInt8]] = []
        let (name, prefix) = target.socketTerms(transport)
        func prefixed(_ usual: String) -> [UInt8] { Array((prefix ?? (name == nil ? usual : "")).utf8) + token }
        switch transport {
        case .socketHeaders: fields.append((name ?? "Authorization", prefixed("Bearer ")))
        case .socketCookie: fields.append(("Cookie", Array("\(name ?? "session")=".utf8) + token))
        case .socketProtocol:
            // Beside the token, a subprotocol is offered that the target may choose.
            if let chosen = name ?? (prefix == nil ? "gatehouse.v1" : nil) { offers.append(Array(chosen.utf8)) }
            offers.append(prefixed("bearer."))
        default: parameters.append((name ?? "access_token", token))
        }
        let id = Array((session ?? "").utf8)
        switch (target.socketSession, transport) {
        case (.none, _): break
        case (.header, _), (.asToken, .socketHeaders): fields.append(("Session-Id", id))
        case (.asToken, .socketProtocol): offers.append(Array("session.".utf8) + id)
        case (.query, _), (.asToken, _): parameters.append(("session_id", id))
        }
        if !offers.isEmpty {
            fields.append(("Sec-WebSocket-Protocol", Array(offers.joined(separator: Array(", ".utf8)))))
        }
        for (name, value) in parameters { add(name, value) }
    }

    /// Adds a query parameter.
    mutating func add(_ name: String, _ value: [UInt8]) {
        query += Array((query.isEmpty ? "?" : "&").utf8) + Array("\(name)=".utf8) + PercentEncoding.encode(value)
    }

    /// Sets the value of a field, or removes the field for nil.
    mutating func set(_ name: String, _ value: String?) {
        fields.removeAll { $0.name == name }
        if let value { fields.append((name, Array(value.utf8))) }
    }

    /// The handshake for the target's socket path, with the fields in their order.
    func request(to target: Target) -> RawRequest {
        let path = target.socketPath ?? "/"
        var bytes = Array("\(method) \(path)".utf8) + query + Array(" \(version)\r\nHost: \(target.authority)\r\n".utf8)
        for (name, value) in fields { bytes += Array("\(name): ".utf8) + value + Array("\r\n".utf8) }
        return RawRequest(bytes: bytes + Array("\r\n".utf8))
    }
}
