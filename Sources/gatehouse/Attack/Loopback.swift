import Glibc

/// Recognises the addresses of this machine.
enum Loopback {
    /// Whether a host of a URL, without brackets, is this machine.
    static func contains(_ host: String) -> Bool {
        host == "localhost" || contains(address: host)
    }

    /// Whether an address as text is this machine.
    static func contains(address text: String) -> Bool {
        if NetworkText.isIPv4(text) { return text.hasPrefix("127.") }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return false }
        return isLoopback(bytes)
    }

    /// Whether the address is `::1`, or an IPv4-mapped address of 127/8.
    private static func isLoopback(_ bytes: [UInt8]) -> Bool {
        let zeros = bytes.prefix(10).allSatisfy { $0 == 0 }
        if zeros, bytes.dropFirst(10).prefix(2).allSatisfy({ $0 == 0xFF }) { return bytes[12] == 127 }
        return zeros && bytes.dropFirst(10).prefix(5).allSatisfy { $0 == 0 } && bytes.last == 1
    }
}
