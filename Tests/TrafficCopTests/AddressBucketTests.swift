import Testing

@testable import TrafficCop

@Suite struct AddressBucketTests {
    @Test(
        "Addresses of one customer are in one bucket",
        arguments: [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
            ("2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"),
            ("[2001:db8:1:2::1]", "2001:db8:1:2::/64"),
            ("fe80::1%eth0", "fe80:0:0:0::/64"),
            ("::1", "0:0:0:0::/64"),
            ("unix", "unix"),
            ("", ""),
        ])
    func buckets(address: String, expected: String) {
        #expect(AddressBucket.name(for: address) == expected)
    }

    @Test("Neighbouring networks have different buckets")
    func neighbours() {
        #expect(AddressBucket.name(for: "2001:db8:1:2::1") != AddressBucket.name(for: "2001:db8:1:3::1"))
    }

    @Test("Texts that are too long for an address share one bucket")
    func tooLong() {
        #expect(AddressBucket.name(for: String(repeating: "a", count: 1_000)) == "unreadable")
    }
}
