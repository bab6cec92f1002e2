import Glibc

/// Checks of names and addresses in the configuration.
enum NetworkText {
    /// Whether the text is an IPv4 address of four decimal numbers.
    static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    /// Whether the text is an IPv6 address without brackets.
    static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    /// Whether the text is an address, or a block of addresses as `ADDRESS/BITS`.
    static func isAddressBlock(_ text: String) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let address = parts.first else { return false }
        let width = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0
        guard width > 0 else { return false }
        guard parts.count == 2 else { return true }
        guard let bits = UInt8(parts[1]), !parts[1].hasPrefix("+") else { return false }
        return Int(bits) <= width
    }

    /// Whether the text consists of letters, digits, dots, hyphens and underscores, which names of containers have.
    static func isHostName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}
