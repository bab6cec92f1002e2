/// The field names that are recognised while a head is read.
///
/// Names that are only ever dropped share one case per family. Matching is by bytes without regard to case.
package enum KnownField: UInt8, Sendable, CaseIterable {
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
    /// `X-WebAuth-*`, `Remote-*`, `X-Real-IP`, `X-Original-*`, `X-Rewrite-*`.
    case xIdentity
    /// `X-HTTP-Method`, `X-HTTP-Method-Override`, `X-Method-Override`.
    case methodOverride

    /// Whether the field speaks of one connection only and is never forwarded.
    package var isHopByHop: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .te, .trailer,
            .transferEncoding, .upgrade, .http2Settings:
            true
        default: false
        }
    }

    /// Whether a client may never assert the field towards an upstream.
    package var isIdentityFamily: Bool {
        switch self {
        case .forwarded, .xForwarded, .xGatehouse, .xIdentity: true
        default: false
        }
    }
}

/// A set of known fields, one bit each.
package struct KnownFieldSet: Sendable, Equatable {
    @usableFromInline var bits: UInt64 = 0

    package init() {}

    /// Whether `field` is in the set.
    @inlinable
    package func contains(_ field: KnownField) -> Bool { (self.bits &>> UInt64(field.rawValue)) & 1 == 1 }

    @inline(__always)
    mutating func insert(_ field: KnownField) { self.bits |= 1 &<< UInt64(field.rawValue) }
}

/// One field line of a head: where its name and its value stand, and which field it is.
package struct HeaderField: Sendable, Equatable {
    /// The name, as sent.
    package var name: ByteRange
    /// The value without the whitespace around it.
    package var value: ByteRange
    /// Which known field it is.
    package var id: KnownField
    /// Whether the name is only letters, digits and hyphens; a name with `_` or `.` is an alias to some upstreams.
    package var hasPlainName: Bool

    package init(name: ByteRange, value: ByteRange, id: KnownField, hasPlainName: Bool) {
        self.name = name
        self.value = value
        self.id = id
        self.hasPlainName = hasPlainName
    }
}
