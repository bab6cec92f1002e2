/// How a token is put into a request.
public enum Transport: String, Sendable, CaseIterable {
    /// `Authorization: Bearer` of a plain request.
    case authorization
    /// `access_token` in the query of a WebSocket upgrade.
    case socketQuery = "websocket-query"
    /// `Authorization` of a WebSocket upgrade.
    case socketHeaders = "websocket-headers"
    /// `bearer.` in `Sec-WebSocket-Protocol`.
    case socketProtocol = "websocket-protocol"
    /// `token` in the form of an introspection request (RFC 7662).
    case introspection

    /// Whether it takes a session to be let in.
    public var needsSession: Bool {
        switch self {
        case .socketQuery, .socketHeaders, .socketProtocol: true
        case .authorization, .introspection: false
        }
    }

    /// The bytes of the request; nil where the payload cannot travel so.
    public func request(_ payload: Payload, to target: Target) -> RawRequest? {
        switch payload {
        // In a list of subprotocols a comma ends the offer, so that another token would be sent.
        case .token(let token) where self == .socketProtocol && token.contains(UInt8(ascii: ",")): nil
        case .token(let token): request(token: token, to: target)
        case .authorization(let values, let query):
            self == .authorization ? Self.plain(values, query: query, to: target) : nil
        }
    }

    /// A request without any credential.
    public func bareRequest(to target: Target) -> RawRequest {
        switch self {
        case .authorization: Self.plain([], query: nil, to: target)
        case .introspection: Self.introspection([], to: target, authorized: false)
        case .socketQuery, .socketHeaders, .socketProtocol: Self.upgrade(query: [], fields: [], to: target)
        }
    }

    private func request(token: [UInt8], to target: Target) -> RawRequest {
        let session = target.sessionID ?? ""
        switch self {
        case .authorization:
            return Self.plain([Array("Bearer ".utf8) + token], query: nil, to: target)
        case .socketQuery:
            let query = Array("?access_token=".utf8) + PercentEncoding.encode(token) + Array("&session_id=".utf8)
            return Self.upgrade(query: query + PercentEncoding.encode(Array(session.utf8)), fields: [], to: target)
        case .socketHeaders:
            return Self.upgrade(
                query: [],
                fields: [("Authorization", Array("Bearer ".utf8) + token), ("Session-Id", Array(session.utf8))],
                to: target)
        case .socketProtocol:
            let offer = Array("gatehouse.v1, bearer.".utf8) + token + Array(", session.\(session)".utf8)
            return Self.upgrade(query: [], fields: [("Sec-WebSocket-Protocol", offer)], to: target)
        case .introspection:
            return Self.introspection(token, to: target, authorized: true)
        }
    }

    // MARK: Requests

    private static let close: (name: String, value: [UInt8]) = ("Connection", Array("close".utf8))

    private static func plain(_ values: [[UInt8]], query: [UInt8]?, to target: Target) -> RawRequest {
        var path = Array(target.path.utf8)
        if let query {
            path += Array((target.path.contains("?") ? "&" : "?").utf8) + Array("access_token=".utf8)
            path += PercentEncoding.encode(query)
        }
        let fields = values.map { (name: "Authorization", value: $0) } + [close]
        return RawRequest("GET", path, authority: target.authority, fields: fields)
    }

    private static func upgrade(
        query: [UInt8], fields: [(name: String, value: [UInt8])], to target: Target
    ) -> RawRequest {
        let handshake: [(name: String, value: [UInt8])] = [
            ("Connection", Array("Upgrade".utf8)), ("Upgrade", Array("websocket".utf8)),
            ("Sec-WebSocket-Version", Array("13".utf8)),
            ("Sec-WebSocket-Key", Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)),
        ]
        return RawRequest(
            "GET", Array(target.socketPath.utf8) + query, authority: target.authority, fields: handshake + fields)
    }

    private static func introspection(_ token: [UInt8], to target: Target, authorized: Bool) -> RawRequest {
        let body = Array("token=".utf8) + PercentEncoding.encode(token)
        var fields: [(name: String, value: [UInt8])] = [
            ("Content-Type", Array("application/x-www-form-urlencoded".utf8)),
            ("Content-Length", Array(String(body.count).utf8)), close,
        ]
        if authorized, let client = target.clientAuthorization {
            fields.append(("Authorization", Array(client.utf8)))
        }
        return RawRequest(
            "POST", Array(target.introspectionPath.utf8), authority: target.authority, fields: fields, body: body)
    }
}

/// Percent-encoding of everything that is not unreserved (RFC 3986 §2.3).
enum PercentEncoding {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return bytes.flatMap { byte in
            isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
