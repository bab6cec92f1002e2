import Glibc
import NIOCore

/// IP addresses as bytes: 4 or 16; an IPv4-mapped IPv6 address has the 4 bytes of the IPv4 address.
package enum PackedAddress {
    /// The bytes of an address as text; nil when it isn't one.
    package static func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count <= 45 else { return nil }
        if let v4 = parse(text, AF_INET, count: 4) { return v4 }
        return parse(text, AF_INET6, count: 16).map(unmapped)
    }

    /// 4 or 16 bytes in the one form that each address has here.
    package static func canonical(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.count == 4 ? bytes : Self.bytes(of: text(of: bytes))
    }

    /// The bytes of a socket's address; nil for a Unix socket.
    package static func bytes(of address: SocketAddress) -> [UInt8]? {
        switch address {
        // Its place in the kernel's structures: after family and port, and in IPv6 also after the flow label.
        case .v4(let address): return withUnsafeBytes(of: address.address) { Array($0[4..<8]) }
        case .v6(let address): return withUnsafeBytes(of: address.address) { unmapped(Array($0[8..<24])) }
        default: return nil
        }
    }

    private static func unmapped(_ v6: [UInt8]) -> [UInt8] {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        return v6.starts(with: mapped) ? Array(v6.dropFirst(12)) : v6
    }

    private static func parse(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// The address as text, in one form per address.
    package static func text(of bytes: [UInt8]) -> String {
        if bytes.count == 4 { return textV4(of: bytes) }
        let packed = ByteBuffer(bytes: bytes)
        guard let address = try? SocketAddress(packedIPAddress: packed, port: 0) else { return "unknown" }
        return address.ipAddress ?? "unknown"
    }

    private static func textV4(of bytes: [UInt8]) -> String {
        // At most fifteen characters, which a string stores without allocating.
        String(unsafeUninitializedCapacity: 16) { text in
            var count = 0
            func write(_ letter: UInt8) {
                text[count] = letter
                count += 1
            }
            for byte in bytes {
                if count > 0 { write(UInt8(ascii: ".")) }
                if byte >= 100 { write(0x30 + byte / 100) }
                if byte >= 10 { write(0x30 + byte / 10 % 10) }
                write(0x30 + byte % 10)
            }
            return count
        }
    }

    /// Whether it is an address of this machine itself (127.0.0.0/8 or ::1).
    package static func isLoopback(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 { return bytes.first == 127 }
        return bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether a host, without brackets, is this machine itself: `localhost` or such an address.
    package static func isLoopback(host: String) -> Bool {
        host.utf8.elementsEqual("localhost".utf8) || bytes(of: host).map { isLoopback($0) } ?? false
    }

    /// Whether a peer counts as one on this machine: by its address, or nil, since a Unix socket's has none.
    package static func countsAsLocal(peer: [UInt8]?) -> Bool { peer.map { isLoopback($0) } ?? true }
}
