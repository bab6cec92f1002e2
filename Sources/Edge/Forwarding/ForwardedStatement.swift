import EdgeCore
import HTTPWire

/// What forwarded fields say of the client, as far as trusted proxies wrote them.
package struct ForwardedStatement: Equatable {
    /// Whether they say who the client is, including that it is unknown.
    var namesClient = false
    /// From the right, the first address that isn't a trusted proxy's; nil where the last entry isn't an address.
    package var client: [UInt8]?
    /// Whether a trusted proxy hides the client's address.
    var isHidden = false
    /// The addresses of the chain, the nearest last, from behind the last entry that is no address. What is in front of
    /// that may be made up: a reader that trusts the proxies behind it would take it for the client.
    package var chain: [String] = []
    /// The scheme that the client used, in lower case; empty where that was said twice.
    var proto: String?
    /// The host that the client asked for; empty where that was said twice, or isn't a host.
    package var host: String?

    /// How many entries are read, from the end. The nearest proxies wrote the last ones; earlier ones may be made up by
    /// the client.
    private static let maxChain = 32

    /// The fields `X-Forwarded-For`, `-Proto` and `-Host`. An entry that is no address ends the walk and the chain.
    ///
    /// - Parameter isTrusted: whether an address, 4 or 16 bytes, is one of `server.trusted_proxies`.
    package init(xForwarded head: RequestHead, isTrusted: ([UInt8]) -> Bool) {
        var entries: [String] = []
        for field in head.fields where field.id == .xForwarded {
            if head.equals(field.name, "x-forwarded-for") {
                entries += head.string(field.value).split(separator: ",").suffix(Self.maxChain).map(Self.address)
            } else if head.equals(field.name, "x-forwarded-proto") {
                // With two of them it is unknown which one counts.
                proto = proto == nil ? head.string(field.value).lowercased() : ""
            } else if head.equals(field.name, "x-forwarded-host") {
                let name = head.string(field.value)
                host = host == nil && Self.isHost(name) ? name : ""
            }
        }
        entries = entries.suffix(Self.maxChain)
        namesClient = !entries.isEmpty
        for entry in entries.reversed() {
            guard let bytes = PackedAddress.bytes(of: entry) else { break }
            client = bytes
            if !isTrusted(bytes) { break }
        }
        chain = Array(entries.reversed().prefix { PackedAddress.bytes(of: $0) != nil }.reversed())
    }

    /// The field `Forwarded`. The walk goes from the peer's element towards the client, and ends at the first that is
    /// not a trusted proxy's.
    package init(_ field: ForwardedField, isTrusted: ([UInt8]) -> Bool) {
        let elements = field.elements.suffix(Self.maxChain)
        walk: for element in elements.reversed() {
            // An element is trusted as far as its proxy is: the first was written by the peer, each next one by the
            // proxy that the one before it names.
            proto = element.proto
            host = element.host
            namesClient = namesClient || element.node != nil
            switch element.node {
            case .address(let bytes)?:
                client = bytes
                if !isTrusted(bytes) { break walk }
            case .hidden?:
                isHidden = true
                break walk
            case nil:
                break walk
            }
        }
        let addresses = elements.reversed().map { element -> String? in
            guard case .address(let bytes)? = element.node else { return nil }
            return PackedAddress.text(of: bytes)
        }
        chain = addresses.prefix { $0 != nil }.compactMap(\.self).reversed()
    }

    /// Both families combined, each adding what the other leaves out; nil where they contradict each other, since it is
    /// unknown which of them the proxy wrote and which the client.
    func merged(with other: ForwardedStatement) -> ForwardedStatement? {
        if namesClient, other.namesClient, client != other.client { return nil }
        if let proto, let theirs = other.proto, !proto.utf8.elementsEqual(theirs.utf8) { return nil }
        if let host, let theirs = other.host, !host.lowercased().utf8.elementsEqual(theirs.lowercased().utf8) {
            return nil
        }
        var both = self
        if !namesClient {
            both.namesClient = other.namesClient
            both.client = other.client
            both.chain = other.chain
        }
        both.isHidden = isHidden || other.isHidden
        both.proto = proto ?? other.proto
        both.host = host ?? other.host
        return both
    }

    /// The address of one entry of `X-Forwarded-For`, without the white space, brackets and port that some proxies
    /// write with it.
    private static func address(_ entry: Substring) -> String {
        var text = entry
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        if text.first == "[", let end = text.firstIndex(of: "]") { return String(text.dropFirst().prefix(upTo: end)) }
        if text.filter({ $0 == ":" }).count == 1, let colon = text.firstIndex(of: ":") { text = text[..<colon] }
        return String(text)
    }

    /// Letters, digits and `-._:[]`, at most 261 bytes: a name of 253, a colon and a port, with some room.
    static func isHost(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "-._:[]".utf8.contains(byte)
            }
        }
        return isPlain && !name.isEmpty && name.utf8.count <= 261
    }
}
