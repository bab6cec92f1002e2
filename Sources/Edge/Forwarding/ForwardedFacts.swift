import Answers
import EdgeConfiguration
import EdgeCore
import HTTPWire
import NIOCore

/// Who the client is and how it connected, according to the trusted proxies in front. Found out once for each request.
/// Limits, cookies and logs go by it, and never by a field of a peer that is not trusted.
package struct ForwardedFacts {
    /// The client's address as text.
    var clientAddress: String
    /// Whether the client is on this machine.
    package var isLoopback: Bool
    /// Whether the client came over TLS. Decides whether cookies are `Secure`, and which scheme upstreams are told.
    package var isSecure: Bool
    /// The value of `X-Forwarded-For` for upstreams. The chain as trusted proxies told it and the peer; it is sent in
    /// place of the client's own field.
    var forwardedFor: String
    /// The host that a trusted proxy was asked for.
    package var host: String?

    /// Reads the forwarded fields if the peer is a trusted proxy; else takes the facts from the connection itself.
    ///
    /// - Parameter readsForwarded: whether `Forwarded` counts beside the `X-Forwarded-` fields.
    /// - Throws: when a trusted peer passed on a `Forwarded` that can't be read, or that contradicts the others.
    package static func read(
        _ head: RequestHead, origin: ConnectionOrigin, services: EdgeServices, readsForwarded: Bool
    ) throws(Problem) -> ForwardedFacts {
        var facts = ForwardedFacts(
            clientAddress: origin.peerText, isLoopback: origin.isLoopback, isSecure: origin.isTLS,
            forwardedFor: origin.forwardedFor)
        guard head.present.contains(.xForwarded) || head.present.contains(.forwarded) else {
            return facts
        }
        guard isTrusted(origin.peer, services) else {
            services.warnOfForwarding()
            return facts
        }
        let isProxy = { (address: [UInt8]) -> Bool in services.trustedProxies.contains { $0.contains(address) } }
        var said = ForwardedStatement(xForwarded: head, isTrusted: isProxy)
        if readsForwarded { said = try said.with(forwarded: head, isTrusted: isProxy) }
        facts.take(said, origin: origin)
        return facts
    }

    private mutating func take(_ said: ForwardedStatement, origin: ConnectionOrigin) {
        if let client = said.client {
            clientAddress = PackedAddress.text(of: client)
            isLoopback = PackedAddress.isLoopback(client)
        }
        // A client that the proxy does not name is not the proxy itself.
        if said.isHidden { isLoopback = false }
        if let proto = said.proto { isSecure = proto == "https" }
        host = said.host.flatMap { $0.isEmpty ? nil : $0 }
        forwardedFor = Self.chain(said.chain, behind: origin)
    }

    /// The chain of addresses for upstreams, the peer last. A peer on a Unix socket has no address to add. A chain
    /// without any address is written as `unknown` (RFC 7239), which no upstream takes for an address.
    private static func chain(_ addresses: [String], behind origin: ConnectionOrigin) -> String {
        let all = origin.peer == nil ? addresses : addresses + [origin.peerText]
        return all.isEmpty ? "unknown" : all.joined(separator: ", ")
    }

    /// Whether the peer is a trusted proxy: a Unix socket's peer if the list contains `unix`, others by address.
    ///
    /// - Parameter peer: 4 or 16 bytes; nil for a Unix socket.
    static func isTrusted(_ peer: [UInt8]?, _ services: EdgeServices) -> Bool {
        guard let peer else { return services.configuration.server.trustedProxies.contains("unix") }
        return services.trustedProxies.contains { $0.contains(peer) }
    }
}

extension ForwardedStatement {
    /// This statement together with that of the field `Forwarded`.
    fileprivate func with(
        forwarded head: RequestHead, isTrusted: ([UInt8]) -> Bool
    ) throws(Problem) -> ForwardedStatement {
        var lines: [[UInt8]] = []
        for field in head.fields where field.id == .forwarded {
            lines.append(head.withBytes(field.value) { Array($0) })
        }
        guard let field = ForwardedField(lines) else {
            throw Problem(.badMessage, detail: "The field Forwarded can't be read.", reason: "forwarded")
        }
        guard let both = merged(with: ForwardedStatement(field, isTrusted: isTrusted)) else {
            throw Problem(
                .invalidRequest,
                detail:
                    "Forwarded and X-Forwarded-* contradict each other: a proxy in front should remove what it does "
                    + "not write.",
                reason: "forwarded_contradiction")
        }
        return both
    }
}
