extension IPAddress {
    /// How far an address reaches, after the special-purpose registries of IANA (RFC 6890).
    package enum Reach: String, Sendable, CaseIterable {
        /// The internet: where a name from a document of a provider may lead.
        case global
        /// This machine.
        case loopback
        /// This link; `169.254.169.254`, the metadata of a cloud, among them.
        case linkLocal = "link_local"
        /// A network of one's own: RFC 1918, RFC 4193, carrier-grade NAT, local NAT64.
        case privateUse = "private_use"
        /// Nothing that a connection could be made to in good faith: unspecified, multicast, broadcast, documentation,
        /// benchmarking, reserved, and the tunnels of old that hide an IPv4 address (6to4, Teredo, IPv4-compatible).
        case reserved
    }

    /// How far the address reaches. An IPv6 address that stands for an IPv4 address (mapped, or of a translator's
    /// well-known prefix) reaches as far as that one.
    package var reach: Reach {
        switch self {
        case .v4(let number): Self.reach(ofIPv4: number)
        case .v6(let high, let low): Self.reach(ofIPv6: high, low)
        }
    }

    private static func reach(ofIPv4 number: UInt32) -> Reach {
        for (prefix, length, reach) in ipv4Blocks where number >> (32 - length) == prefix >> (32 - length) {
            return reach
        }
        return .global
    }

    private static let ipv4Blocks: [(prefix: UInt32, length: UInt32, reach: Reach)] = [
        (0x0000_0000, 8, .reserved),  // 0.0.0.0/8, this network
        (0x0A00_0000, 8, .privateUse),  // 10.0.0.0/8
        (0x6440_0000, 10, .privateUse),  // 100.64.0.0/10, carrier-grade NAT
        (0x7F00_0000, 8, .loopback),  // 127.0.0.0/8
        (0xA9FE_0000, 16, .linkLocal),  // 169.254.0.0/16
        (0xAC10_0000, 12, .privateUse),  // 172.16.0.0/12
        (0xC000_0000, 24, .reserved),  // 192.0.0.0/24, protocol assignments
        (0xC000_0200, 24, .reserved),  // 192.0.2.0/24, documentation
        (0xC058_6300, 24, .reserved),  // 192.88.99.0/24, 6to4 relays
        (0xC0A8_0000, 16, .privateUse),  // 192.168.0.0/16
        (0xC612_0000, 15, .reserved),  // 198.18.0.0/15, benchmarking
        (0xC633_6400, 24, .reserved),  // 198.51.100.0/24, documentation
        (0xCB00_7100, 24, .reserved),  // 203.0.113.0/24, documentation
        (0xE000_0000, 4, .reserved),  // 224.0.0.0/4, multicast
        (0xF000_0000, 4, .reserved),  // 240.0.0.0/4, reserved and broadcast
    ]

    private static func reach(ofIPv6 high: UInt64, _ low: UInt64) -> Reach {
        if high == 0, low == 1 { return .loopback }
        // ::ffff:0:0/96, IPv4-mapped, and 64:ff9b::/96, NAT64 (RFC 6052).
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        let isTranslated = high == 0x0064_FF9B_0000_0000 && low >> 32 == 0
        if isMapped || isTranslated { return reach(ofIPv4: UInt32(truncatingIfNeeded: low)) }
        if high >> 16 == 0x0064_FF9B_0001 { return .privateUse }  // 64:ff9b:1::/48, NAT64 of one's own
        if high >> 57 == 0xFC >> 1 { return .privateUse }  // fc00::/7
        if high >> 54 == 0xFE80 >> 6 { return .linkLocal }  // fe80::/10
        if high >> 54 == 0xFEC0 >> 6 { return .privateUse }  // fec0::/10, site-local
        guard high >> 61 == 1 else { return .reserved }  // all but 2000::/3
        let isReserved =
            high >> 41 == 0x2001_0000 >> 9  // 2001::/23, protocol assignments, Teredo among them
            || high >> 32 == 0x2001_0DB8  // 2001:db8::/32, documentation
            || high >> 48 == 0x2002  // 2002::/16, 6to4
            || high >> 44 == 0x3FFF0  // 3fff::/20, documentation
        return isReserved ? .reserved : .global
    }
}
