extension KnownField {
    /// The field with the name in the range `name`. Names are selected by length, which leaves at most six comparisons;
    /// the families are then matched by prefix.
    static func lookup(_ bytes: UnsafeRawBufferPointer, _ name: ByteRange) -> KnownField {
        let exact = byLength(bytes, name)
        return exact == .other ? family(bytes, name) : exact
    }

    /// The families of names that are matched by prefix, so that names added to a family later belong to it as well.
    private static func family(_ bytes: UnsafeRawBufferPointer, _ name: ByteRange) -> KnownField {
        func begins(_ prefix: StaticString) -> Bool { ByteScan.hasPrefix(bytes, name, prefix) }
        guard name.count >= 6 else { return .other }
        if bytes[name.start] | 0x20 == 0x72 { return begins("remote-") ? .xIdentity : .other }
        guard bytes[name.start] | 0x20 == 0x78, bytes[name.start + 1] == 0x2D else { return .other }
        switch bytes[name.start + 2] | 0x20 {
        case 0x66: return begins("x-forwarded") ? .xForwarded : .other
        case 0x67: return begins("x-gatehouse") ? .xGatehouse : .other
        case 0x61: return begins("x-auth-") ? .xIdentity : .other
        case 0x75: return begins("x-user") ? .xIdentity : .other
        case 0x72: return begins("x-remote-") || begins("x-rewrite-") ? .xIdentity : .other
        case 0x77: return begins("x-webauth-") ? .xIdentity : .other
        case 0x6F: return begins("x-original-") ? .xIdentity : .other
        default: return .other
        }
    }
}

extension KnownField {
    private static func byLength(_ bytes: UnsafeRawBufferPointer, _ name: ByteRange) -> KnownField {
        func named(_ candidate: StaticString) -> Bool { ByteScan.hasPrefix(bytes, name, candidate) }
        switch name.count {
        case 2:
            if named("te") { return .te }
        case 4:
            if named("host") { return .host }
            if named("date") { return .date }
            if named("dpop") { return .dpop }
            if named("etag") { return .etag }
            if named("vary") { return .vary }
        case 5:
            if named("range") { return .range }
        case 6:
            if named("accept") { return .accept }
            if named("cookie") { return .cookie }
            if named("expect") { return .expect }
            if named("origin") { return .origin }
            if named("server") { return .server }
        case 7:
            if named("referer") { return .referer }
            if named("trailer") { return .trailer }
            if named("upgrade") { return .upgrade }
        case 8:
            if named("location") { return .location }
        case 9:
            if named("forwarded") { return .forwarded }
            if named("x-real-ip") { return .xIdentity }
        case 10:
            if named("connection") { return .connection }
            if named("keep-alive") { return .keepAlive }
            if named("user-agent") { return .userAgent }
            if named("session-id") { return .sessionID }
            if named("set-cookie") { return .setCookie }
            if named("tracestate") { return .tracestate }
        case 11:
            if named("traceparent") { return .traceparent }
            if named("client-cert") { return .xIdentity }
        case 12:
            if named("content-type") { return .contentType }
            if named("x-request-id") { return .xRequestID }
        case 13:
            if named("authorization") { return .authorization }
            if named("cache-control") { return .cacheControl }
            if named("if-none-match") { return .ifNoneMatch }
            if named("x-http-method") { return .methodOverride }
        case 14:
            if named("content-length") { return .contentLength }
            if named("http2-settings") { return .http2Settings }
            if named("session-secret") { return .sessionSecret }
            if named("sec-fetch-site") { return .secFetchSite }
            if named("sec-fetch-mode") { return .secFetchMode }
            if named("sec-fetch-dest") { return .secFetchDest }
            if named("mcp-session-id") { return .mcpSessionID }
        case 15:
            if named("accept-encoding") { return .acceptEncoding }
        case 16:
            if named("content-encoding") { return .contentEncoding }
            if named("proxy-connection") { return .proxyConnection }
            if named("www-authenticate") { return .wwwAuthenticate }
        case 17:
            if named("transfer-encoding") { return .transferEncoding }
            if named("client-cert-chain") { return .xIdentity }
            if named("sec-websocket-key") { return .secWebSocketKey }
            if named("x-method-override") { return .methodOverride }
        case 18:
            if named("proxy-authenticate") { return .proxyAuthenticate }
        case 19:
            if named("proxy-authorization") { return .proxyAuthorization }
        case 20:
            if named("sec-websocket-accept") { return .secWebSocketAccept }
            if named("mcp-protocol-version") { return .mcpProtocolVersion }
        case 21:
            if named("sec-websocket-version") { return .secWebSocketVersion }
        case 22:
            if named("sec-websocket-protocol") { return .secWebSocketProtocol }
            if named("x-http-method-override") { return .methodOverride }
        case 24:
            if named("sec-websocket-extensions") { return .secWebSocketExtensions }
        case 29:
            if named("access-control-request-method") { return .accessControlRequestMethod }
        case 30:
            if named("access-control-request-headers") { return .accessControlRequestHeaders }
        default: break
        }
        return .other
    }
}
