import Foundation
import HTTPWire
import NIOCore
import NIOHPACK

/// The request in the HEADERS of an HTTP/2 stream.
enum HTTP2Request {
    /// A request. Where `isTunnel`, it asks for a tunnel (RFC 8441), and has been made into an upgrade request as over
    /// HTTP/1.1.
    case request(RequestHead, isTunnel: Bool)
    /// A head that breaks a rule for every head, or, where the error is nil, one of HTTP/2's own rules.
    case refused(WireError?, isHead: Bool)

    /// Reads the fields of a stream's first HEADERS. A field name with a capital letter, and every field that concerns
    /// a connection, is refused as RFC 9113 section 8.2 demands.
    ///
    /// - Parameter endsStream: whether no body follows.
    /// - Parameter limits: those of a head over HTTP/1.1, applied to the head as it would be written there.
    static func read(_ headers: HPACKHeaders, endsStream: Bool, limits: WireLimits) -> HTTP2Request {
        let isHead = headers.first(name: ":method") == "HEAD"
        do {
            guard let pseudo = Pseudo(headers), let isTunnel = pseudo.isTunnel else {
                return .refused(nil, isHead: isHead)
            }
            guard let head = try head(pseudo, isTunnel, headers, endsStream, limits) else {
                return .refused(nil, isHead: isHead)
            }
            return .request(head, isTunnel: isTunnel)
        } catch {
            return .refused(error, isHead: isHead)
        }
    }

    /// The head; nil where HTTP/2 forbids it (RFC 9113 sections 8.2 and 8.3).
    private static func head(
        _ pseudo: Pseudo, _ isTunnel: Bool, _ headers: HPACKHeaders, _ endsStream: Bool, _ limits: WireLimits
    ) throws(WireError) -> RequestHead? {
        guard let kept = Kept(headers, authority: pseudo.authority, isTunnel: isTunnel) else { return nil }
        var head = try RequestHeadBuilder(
            method: isTunnel ? "GET" : pseudo.method, target: pseudo.path, limits: limits)
        try head.add("Host", pseudo.authority)
        for field in kept.fields { try head.add(field.name, field.value) }
        if !kept.cookies.isEmpty { try head.add("cookie", kept.cookies.joined(separator: "; ")) }
        if isTunnel {
            // RFC 8441 has no key. An upstream that is asked over HTTP/1.1 gets a random one, as from a client.
            try head.add("Connection", "Upgrade")
            try head.add("Upgrade", "websocket")
            try head.add("Sec-WebSocket-Key", randomKey())
        } else if !endsStream, !kept.hasLength {
            // A body of unknown length is forwarded to the upstream in chunks.
            try head.add("Transfer-Encoding", "chunked")
        }
        return try head.finish()
    }

    /// The fields that become fields of the head.
    private struct Kept {
        var fields: [(name: String, value: String)] = []
        /// Cookies may come in several fields, and are one (RFC 9113 section 8.2.3).
        var cookies: [String] = []
        var hasLength = false

        init?(_ headers: HPACKHeaders, authority: String, isTunnel: Bool) {
            fields.reserveCapacity(headers.count)
            var hasHost = false
            for (name, value, _) in headers where !name.hasPrefix(":") {
                guard HTTP2Request.isFieldName(name), HTTP2Request.isFieldValue(value) else { return nil }
                switch name {
                case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings":
                    return nil
                case "te":
                    if value != "trailers" { return nil }
                    continue
                case "host":
                    // `Host` and `:authority` must agree, and `Host` may come only once.
                    guard !hasHost, value.lowercased() == authority.lowercased() else { return nil }
                    hasHost = true
                    continue
                case "cookie":
                    cookies.append(value)
                    continue
                case "content-length": hasLength = true
                case "sec-websocket-key" where isTunnel: continue
                default: break
                }
                fields.append((name, value))
            }
        }
    }

    /// Sixteen random bytes in base64.
    private static func randomKey() -> String {
        var generator = SystemRandomNumberGenerator()
        let halves: [UInt64] = [generator.next(), generator.next()]
        return halves.withUnsafeBytes { Data($0) }.base64EncodedString()
    }

    private struct Pseudo {
        var method = ""
        var path = ""
        var authority = ""
        private var protocolName: String?

        /// Whether it asks for a WebSocket tunnel; nil where that is malformed or another protocol: `:protocol` is only
        /// allowed with CONNECT (RFC 8441 section 4).
        var isTunnel: Bool? {
            let isTunnel = protocolName == "websocket"
            if protocolName != nil, !isTunnel { return nil }
            return isTunnel == (method == "CONNECT") ? isTunnel : nil
        }

        init?(_ headers: HPACKHeaders) {
            var scheme: String?
            var seen: Set<String> = []
            for (name, value, _) in headers where name.hasPrefix(":") {
                guard seen.insert(name).inserted, HTTP2Request.isFieldValue(value) else { return nil }
                switch name {
                case ":method": method = value
                case ":path": path = value
                case ":scheme": scheme = value
                case ":authority": authority = value
                case ":protocol": protocolName = value
                default: return nil
                }
            }
            if authority.isEmpty { authority = headers.first(name: "host") ?? "" }
            // `*` is only allowed with OPTIONS (RFC 9113 section 8.3.1), and refused later, as over HTTP/1.1.
            let isAsterisk = path == "*" && method == "OPTIONS"
            guard scheme == "https" || scheme == "http", path.hasPrefix("/") || isAsterisk, !authority.isEmpty,
                !method.isEmpty, !path.utf8.contains(0x20), !method.utf8.contains(0x20), !authority.utf8.contains(0x20)
            else { return nil }
        }
    }

    /// What is wrong with trailers; nil for those that may be dropped. As over HTTP/1.1 they may neither frame nor route
    /// the message.
    static func fault(ofTrailers trailers: HPACKHeaders) -> WireError? {
        if let fault = ForbiddenTrailer.fault(in: trailers.lazy.map(\.name)) { return fault }
        let isWhole = trailers.allSatisfy { isFieldName($0.name) && isFieldValue($0.value) }
        return isWhole ? nil : WireError(.trailer, "a malformed trailer")
    }

    /// Whether the value may be forwarded: without white space at its ends (RFC 9113 section 8.2.1). SwiftNIO replaces
    /// bytes that are not UTF-8 by U+FFFD, so a value with such bytes can't be forwarded as it was sent, and is refused.
    static func isFieldValue(_ value: String) -> Bool {
        let isSpace = { (byte: UInt8?) in byte == 0x20 || byte == 0x09 }
        return !isSpace(value.utf8.first) && !isSpace(value.utf8.last)
            && value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f }
            && !value.unicodeScalars.contains("\u{FFFD}")
    }

    fileprivate static func isFieldName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7a: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
