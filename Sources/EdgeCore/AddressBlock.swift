/// An IP address or a block of addresses, as listed in `server.trusted_proxies`.
package struct AddressBlock: Sendable, Equatable {
    private let bytes: [UInt8]
    private let prefixLength: Int

    /// Reads `127.0.0.1`, `10.0.0.0/8`, `::1`, `fd00::/8`; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = PackedAddress.bytes(of: String(first)) else { return nil }
        var length = bytes.count * 8
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...length).contains(given) else { return nil }
            length = given
        }
        self.bytes = bytes
        self.prefixLength = length
    }

    /// Whether the address, in the form of ``PackedAddress``, is in the block.
    package func contains(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        var remaining = prefixLength
        for (mine, theirs) in zip(bytes, address) {
            if remaining <= 0 { return true }
            let mask: UInt8 = remaining >= 8 ? 0xff : ~(0xff >> UInt8(remaining))
            if mine & mask != theirs & mask { return false }
            remaining -= 8
        }
        return true
    }
}
