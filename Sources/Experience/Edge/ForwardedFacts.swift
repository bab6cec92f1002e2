import HTTPWire
import NIOCore

/// Who the client is and how it came, seen through the proxies in front that are trusted to say so.
struct ForwardedFacts {
    /// The client's address as text.
    var clientAddress: String
    var isLoopback: Bool
    var isSecure: Bool
    /// What goes into `X-Forwarded-For` for upstreams.
    var forwardedFor: String
    /// The host that a trusted proxy was asked for.
    var host: String?

    /// Reads the forwarded fields if the peer is in the list; else the connection itself speaks.
    static func read(_ head: RequestHead, origin: ConnectionOrigin, services: EdgeServices) -> ForwardedFacts {
        let peerText = origin.peerText
        var facts = ForwardedFacts(
            clientAddress: peerText, isLoopback: origin.isLoopback, isSecure: origin.isTLS,
            forwardedFor: chain([], behind: origin))
        guard head.present.contains(.xForwarded) || head.present.contains(.forwarded) else {
            return facts
        }
        guard isTrusted(origin.peer, services) else {
            services.warnOfForwarding()
            return facts
        }
        facts.readFields(head, origin: origin, services: services)
        return facts
    }

    /// The chain as upstreams are told it, the peer last. A peer on a Unix socket has no address to add; where nobody has
    /// one, the word of RFC 7239 says so, which no upstream takes for an address.
    private static func chain(_ addresses: [String], behind origin: ConnectionOrigin) -> String {
        let all = origin.peer == nil ? addresses : addresses + [origin.peerText]
        return all.isEmpty ? "unknown" : all.joined(separator: ", ")
    }

    /// A Unix socket's peer is trusted when the list says so with `unix`; addresses by block.
    static func isTrusted(_ peer: [UInt8]?, _ services: EdgeServices) -> Bool {
        guard let peer else { return services.configuration.server.trustedProxies.contains("unix") }
        return services.trustedProxies.contains { $0.contains(peer) }
    }

    private mutating func readFields(_ head: RequestHead, origin: ConnectionOrigin, services: EdgeServices) {
        var chain: [String] = []
        var proto: String?
        var hosts: [String] = []
        for field in head.fields where field.id == .xForwarded {
            if head.equals(field.name, "x-forwarded-for") {
                chain += head.string(field.value).split(separator: ",").suffix(Self.maxChain).map(Self.address)
            } else if head.equals(field.name, "x-forwarded-proto") {
                // Two of them: nobody can say which one counts.
                proto = proto == nil ? head.string(field.value).lowercased() : ""
            } else if head.equals(field.name, "x-forwarded-host") {
                hosts.append(head.string(field.value))
            }
        }
        // The nearest proxies wrote the last ones; only those can be told from what a client made up.
        chain = chain.suffix(Self.maxChain)
        if hosts.count == 1, let name = hosts.first, Self.isHost(name) { host = name }
        if let proto { isSecure = proto == "https" }
        // From the right: the first address that is no trusted proxy is the client.
        for entry in chain.reversed() {
            guard let bytes = IPAddress.bytes(of: entry) else { break }
            clientAddress = IPAddress.text(of: bytes)
            isLoopback = IPAddress.isLoopback(bytes)
            if !services.trustedProxies.contains(where: { $0.contains(bytes) }) { break }
        }
        forwardedFor = Self.chain(chain.filter { IPAddress.bytes(of: $0) != nil }, behind: origin)
    }

    private static let maxChain = 32

    /// The address of one entry, without the white space, brackets and port that some proxies write with it.
    private static func address(_ entry: Substring) -> String {
        var text = entry
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        if text.first == "[", let end = text.firstIndex(of: "]") { return String(text.dropFirst().prefix(upTo: end)) }
        if text.filter({ $0 == ":" }).count == 1, let colon = text.firstIndex(of: ":") { text = text[..<colon] }
        return String(text)
    }

    private static func isHost(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "-._:[]".utf8.contains(byte)
            }
        }
        return isPlain && !name.isEmpty && name.utf8.count <= 261
    }
}
