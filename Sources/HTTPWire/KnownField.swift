/// The field names that are recognised while a head is parsed. Case is ignored (RFC 9110 section 5.1).
///
/// Fields that are treated alike in every respect share one case.
public enum KnownField: UInt8, Sendable, CaseIterable {
    case other
    case host
    case contentLength
    case transferEncoding
    case connection
    case keepAlive
    case proxyConnection
    case proxyAuthenticate
    case proxyAuthorization
    case te
    case trailer
    case upgrade
    case http2Settings
    case expect
    case authorization
    case cookie
    case setCookie
    case origin
    case referer
    case secWebSocketKey
    case secWebSocketVersion
    case secWebSocketProtocol
    case secWebSocketExtensions
    case secWebSocketAccept
    case secFetchSite
    case secFetchMode
    case secFetchDest
    case sessionID
    case sessionSecret
    case dpop
    case date
    case server
    case contentType
    case contentEncoding
    case accept
    case acceptEncoding
    case userAgent
    case location
    case etag
    case ifNoneMatch
    case range
    case cacheControl
    case vary
    case wwwAuthenticate
    case accessControlRequestMethod
    case accessControlRequestHeaders
    case xRequestID
    case traceparent
    case tracestate
    case forwarded
    /// `X-Forwarded-*`.
    case xForwarded
    /// `X-Gatehouse-*`.
    case xGatehouse
    /// Other names under which identity or the original request is asserted: `X-Auth-*`, `X-User*`, `X-Remote-*`,
    /// `X-WebAuth-*`, `Remote-*`, `X-Real-IP`, `X-Original-*`, `X-Rewrite-*`, `Client-Cert`, `Client-Cert-Chain`.
    case xIdentity
    /// `Mcp-Session-Id`.
    case mcpSessionID
    /// `MCP-Protocol-Version`.
    case mcpProtocolVersion
    /// `X-HTTP-Method`, `X-HTTP-Method-Override`, `X-Method-Override`.
    case methodOverride

    /// Whether the field applies to one connection only and is never forwarded (RFC 9110 section 7.6.1).
    public var isHopByHop: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te, .trailer,
            .transferEncoding, .upgrade, .http2Settings:
            true
        default: false
        }
    }

    /// Whether the field tells an upstream who the client is or how the request arrived. It is never taken over from a
    /// client.
    public var isIdentityFamily: Bool {
        switch self {
        case .forwarded, .xForwarded, .xGatehouse, .xIdentity: true
        default: false
        }
    }
}
