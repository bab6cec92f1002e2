/// How a token is sent in a request.
public enum Transport: String, Sendable, CaseIterable {
    /// A header field of a plain request: `Authorization: Bearer` unless the target has another.
    case authorization
    /// A query parameter of a plain request: `access_token` unless the target has another.
    case query
    /// A cookie of a plain request.
    case cookie
    /// A parameter of a form in the body of a POST (RFC 6750 section 2.2).
    case body
    /// `access_token` in the query of a WebSocket upgrade.
    case socketQuery = "websocket-query"
    /// `Authorization` of a WebSocket upgrade.
    case socketHeaders = "websocket-headers"
    /// `bearer.` in `Sec-WebSocket-Protocol`.
    case socketProtocol = "websocket-protocol"
    /// A cookie of a WebSocket upgrade.
    case socketCookie = "websocket-cookie"
    /// `token` in the form of an introspection request (RFC 7662).
    case introspection

    /// Whether the token is sent in a WebSocket upgrade.
    public var isSocket: Bool {
        switch self {
        case .socketQuery, .socketHeaders, .socketProtocol, .socketCookie: true
        case .authorization, .query, .cookie, .body, .introspection: false
        }
    }

    /// The bytes of the request; nil if the payload cannot be sent over this transport.
    ///
    /// - Returns: the whole request as it is sent, which asks for the end of the connection unless it is a handshake.
    public func request(_ payload: Payload, to target: Target) -> RawRequest? {
        switch payload {
        case .token(let token): canCarry(token) ? request(token: token, to: target) : nil
        case .authorization(let values, let query):
            self == .authorization && target.carrierName == nil ? Self.plain(values, query: query, to: target) : nil
        }
    }

    /// Whether the bytes would arrive as one token: a separator of the carrier would cut the token off.
    private func canCarry(_ token: [UInt8]) -> Bool {
        switch self {
        // In a list of subprotocols, a comma separates elements.
        case .socketProtocol: !token.contains(UInt8(ascii: ","))
        case .cookie, .socketCookie: !token.contains(UInt8(ascii: ";")) && !token.contains(0x20)
        case .authorization, .query, .body, .socketQuery, .socketHeaders, .introspection: true
        }
    }

    /// A request without any credential.
    ///
    /// A run begins with it: a target that accepts it cannot be judged.
    public func bareRequest(to target: Target) -> RawRequest {
        switch self {
        case .authorization, .query, .cookie: Self.plain([], query: nil, to: target)
        case .body: Self.form(nil, to: target)
        case .introspection: Self.introspection([], to: target, authorized: false)
        case .socketQuery, .socketHeaders, .socketProtocol, .socketCookie: Handshake().request(to: target)
        }
    }

    private func request(token: [UInt8], to target: Target) -> RawRequest? {
        switch self {
        case .authorization:
            let name = target.carrierName ?? "Authorization"
            // `Authorization` has the scheme `Bearer`; another field has the target's prefix or none.
            let prefix = target.carrierPrefix ?? (target.carrierName == nil ? "Bearer " : "")
            return Self.plain(fields: [(name, Array(prefix.utf8) + token)], query: nil, to: target)
        case .query:
            return Self.plain(fields: [], query: token, to: target)
        case .cookie:
            let name = target.carrierName ?? "session"
            return Self.plain(fields: [("Cookie", Array("\(name)=".utf8) + token)], query: nil, to: target)
        case .body:
            return Self.form(token, to: target)
        case .socketQuery, .socketHeaders, .socketProtocol, .socketCookie:
            return Handshake(carrying: token, session: target.sessionID, over: self, to: target).request(to: target)
        case .introspection:
            return Self.introspection(token, to: target, authorized: true)
        }
    }

    // MARK: Requests

    private static let close: (name: String, value: [UInt8]) = ("Connection", Array("close".utf8))

    private static func plain(_ values: [[UInt8]], query: [UInt8]?, to target: Target) -> RawRequest {
        plain(fields: values.map { (name: "Authorization", value: $0) }, query: query, to: target)
    }

    private static func plain(
        fields: [(name: String, value: [UInt8])], query: [UInt8]?, to target: Target
    ) -> RawRequest {
        var path = Array(target.path.utf8)
        if let query {
            path += Array((target.path.contains("?") ? "&" : "?").utf8)
            path += Array("\(target.carrierName ?? "access_token")=".utf8) + PercentEncoding.encode(query)
        }
        return RawRequest("GET", path, authority: target.authority, fields: fields + [close])
    }

    private static func form(_ token: [UInt8]?, to target: Target) -> RawRequest {
        let body =
            token.map { Array("\(target.carrierName ?? "access_token")=".utf8) + PercentEncoding.encode($0) } ?? []
        let fields: [(name: String, value: [UInt8])] = [
            ("Content-Type", Array("application/x-www-form-urlencoded".utf8)),
            ("Content-Length", Array(String(body.count).utf8)), close,
        ]
        return RawRequest("POST", Array(target.path.utf8), authority: target.authority, fields: fields, body: body)
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
