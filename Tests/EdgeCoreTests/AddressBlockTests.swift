import Testing

@testable import EdgeCore

@Suite struct AddressBlockTests {
    @Test(
        "A block contains its addresses and no other",
        arguments: [
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false), ("::1", "::1", true), ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ])
    func contains(block: String, address: String, isInside: Bool) throws {
        let bytes = try #require(PackedAddress.bytes(of: address))
        #expect(try #require(AddressBlock(block)).contains(bytes) == isInside)
    }

    @Test(
        "Anything but an address or a block of them is refused",
        arguments: [
            "", "x", "10.0.0.0/33", "10.0.0/8", "::1/129", "10.0.0.0/", "10.0.0.0/-1", "1.2.3.4/8/9", "localhost",
        ])
    func malformed(text: String) { #expect(AddressBlock(text) == nil) }

    @Test(
        "Loopback is told by the address",
        arguments: [
            ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false),
            ("::2", false),
        ])
    func loopback(address: String, isLoopback: Bool) {
        #expect(PackedAddress.bytes(of: address).map { PackedAddress.isLoopback($0) } == isLoopback)
        #expect(PackedAddress.isLoopback(host: address) == isLoopback)
        #expect(PackedAddress.countsAsLocal(peer: PackedAddress.bytes(of: address)) == isLoopback)
    }

    @Test(
        "Of names only localhost is this machine",
        arguments: [
            ("localhost", true), ("", false), ("example.com", false), ("127.0.0.1.example.com", false),
            ("localhost.example.com", false), ("0x7f.1", false), ("2130706433", false), ("0.0.0.0", false),
            ("::", false),
        ])
    func loopbackNames(host: String, isLoopback: Bool) {
        #expect(PackedAddress.isLoopback(host: host) == isLoopback)
    }

    @Test("A peer without an address, on a Unix socket, counts as local")
    func unixPeer() {
        #expect(PackedAddress.countsAsLocal(peer: nil))
    }
}
