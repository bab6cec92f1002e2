import HTTPWire
import Testing

@Suite("Every known field name")
struct KnownFieldTests {
    @Test(
        "is recognised in any case and not with one letter changed",
        arguments: [
            ("Host", KnownField.host), ("Content-Length", .contentLength), ("Transfer-Encoding", .transferEncoding),
            ("Connection", .connection), ("Keep-Alive", .keepAlive), ("Proxy-Connection", .proxyConnection),
            ("Proxy-Authenticate", .proxyAuthenticate), ("Proxy-Authorization", .proxyAuthorization), ("TE", .te),
            ("Trailer", .trailer), ("Upgrade", .upgrade), ("HTTP2-Settings", .http2Settings), ("Expect", .expect),
            ("Authorization", .authorization), ("Cookie", .cookie), ("Set-Cookie", .setCookie), ("Origin", .origin),
            ("Sec-WebSocket-Key", .secWebSocketKey), ("Sec-WebSocket-Version", .secWebSocketVersion),
            ("Sec-WebSocket-Protocol", .secWebSocketProtocol), ("Sec-WebSocket-Extensions", .secWebSocketExtensions),
            ("Sec-WebSocket-Accept", .secWebSocketAccept), ("Session-Id", .sessionID),
            ("Session-Secret", .sessionSecret),
            ("DPoP", .dpop), ("Date", .date), ("Server", .server), ("Content-Type", .contentType), ("Accept", .accept),
            ("Sec-Fetch-Site", .secFetchSite), ("Sec-Fetch-Mode", .secFetchMode), ("X-Request-Id", .xRequestID),
            ("Traceparent", .traceparent), ("Accept-Encoding", .acceptEncoding), ("User-Agent", .userAgent),
            ("Location", .location), ("Forwarded", .forwarded), ("X-Real-IP", .xIdentity),
            ("X-HTTP-Method-Override", .methodOverride),
        ])
    func recognised(name: String, id: KnownField) throws {
        for spelling in [name, name.lowercased(), name.uppercased()] {
            let text = "HTTP/1.1 200 OK\r\n\(spelling): \(id == .contentLength ? "1" : "chunked")\r\n\r\n"
            #expect(try #require(Wire.parseResponse(text).value).fields.map(\.id) == [id])
        }
        let other = "HTTP/1.1 200 OK\r\n\(name.dropLast())q: 1\r\n\r\n"
        #expect(try #require(Wire.parseResponse(other).value).fields.map(\.id) == [.other])
    }

    @Test(
        "of a family is recognised by its prefix",
        arguments: [
            ("X-Forwarded-Prefix", KnownField.xForwarded), ("x-forwarded-anything", .xForwarded),
            ("X-Gatehouse-User", .xGatehouse), ("X-Auth-Request-Email", .xIdentity), ("X-User", .xIdentity),
            ("X-UserId", .xIdentity), ("X-Remote-Groups", .xIdentity), ("X-WebAuth-User", .xIdentity),
            ("X-Original-URL", .xIdentity), ("X-Rewrite-URL", .xIdentity), ("X-Authentic", .other),
            ("Remote-User", .xIdentity), ("remote-groups", .xIdentity), ("Remotely", .other),
            ("X-Custom", .other),
        ])
    func family(name: String, id: KnownField) throws {
        #expect(try #require(Wire.parse(Wire.request("\(name): v")).value).fields.last?.id == id)
    }

    @Test("has its own bit")
    func bits() {
        #expect(KnownField.allCases.allSatisfy { $0.rawValue < 64 })
    }
}
