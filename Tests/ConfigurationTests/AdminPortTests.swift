import Testing

@testable import gatehouse

@Suite("The operator's listener and the public one")
struct AdminPortTests {
    @Test(
        "A port that both may share is refused",
        arguments: [
            ("0.0.0.0:31081", "127.0.0.1:31081"), ("localhost:31082", "127.0.0.1:31082"),
            ("127.0.0.1:31082", "localhost:31082"), ("'[::]:1'", "127.0.0.1:1"), ("127.0.0.1:1", "0.0.0.0:1"),
            ("'[::ffff:127.0.0.1]:1'", "127.0.0.1:1"), ("'[::1]:1'", "'[0:0::1]:1'"), ("a:1", "b:1"),
            ("'[::ffff:0.0.0.0]:1'", "127.0.0.1:1"),
        ])
    func refuses(listen: String, admin: String) {
        for reuse in [true, false] {
            let found = faults("server:\n  listen: \(listen)\n  admin: \(admin)\n  reuse_port: \(reuse)\n")
            #expect(found.count == 1 && found.first?.hasPrefix("g.yaml:3:10: server.admin: ") == true, "\(found)")
        }
    }

    @Test(
        "Other ports, two addresses, free ports and Unix sockets are not",
        arguments: [
            ("0.0.0.0:1", "127.0.0.1:2"), ("127.0.0.1:1", "127.0.0.2:1"), ("10.0.0.1:1", "'[::1]:1'"),
            ("127.0.0.1:0", "127.0.0.1:0"), ("0.0.0.0:0", "127.0.0.1:0"), ("unix:/a", "unix:/b"), ("0.0.0.0:1", "off"),
        ])
    func takes(listen: String, admin: String) {
        #expect(faults("server:\n  listen: \(listen)\n  admin: \(admin)\n").isEmpty)
    }
}
