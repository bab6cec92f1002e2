#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The address a limit is kept for: one IPv4 address, or the /64 that an IPv6 address lies in.
///
/// Whoever has one IPv6 address has 2^64 of them, so a limit by address would be no limit.
package enum AddressBucket {
    /// The bucket of an address; what is no address is its own bucket.
    package static func name(for address: String) -> String {
        var text = Substring(address)
        if text.first == "[", text.last == "]" { text = text.dropFirst().dropLast() }
        if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
        guard text.utf8.count <= 64 else { return "unreadable" }
        var parsed = in6_addr()
        guard inet_pton(AF_INET6, String(text), &parsed) == 1 else { return String(text) }
        return withUnsafeBytes(of: &parsed) { Self.name(forIPv6: Array($0)) }
    }

    private static func name(forIPv6 bytes: [UInt8]) -> String {
        let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
        if bytes.starts(with: mappedPrefix) {
            return bytes.dropFirst(12).map { String($0) }.joined(separator: ".")
        }
        let groups = stride(from: 0, to: 8, by: 2).map { index in
            String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }
}
