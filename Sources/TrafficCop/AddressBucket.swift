#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The key under which a client address is rate limited: one IPv4 address, or the /64 prefix of an IPv6 address.
///
/// A customer of IPv6 is usually given a whole /64, that is 2^64 addresses, so a limit by single address would have no
/// effect.
package enum AddressBucket {
    /// The bucket that an address belongs to.
    ///
    /// Brackets (`[::1]`) and a zone (`%eth0`) are dropped; an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is
    /// counted as the IPv4 address.
    /// - Returns: the dotted IPv4 address, or the prefix as `a:b:c:d::/64`. Text that is not an IPv6 address is
    ///   returned as it is, and text of more than 64 bytes as `unreadable`.
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
