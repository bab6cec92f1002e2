import EdgeConfiguration
import Testing

@Suite("Listen addresses")
struct ListenAddressTests {
    @Test(
        "Host and port are read and written back",
        arguments: ["127.0.0.1:8080", "localhost:0", "[::1]:8080", "0.0.0.0:65535", "gate.example:443"])
    func readsAddresses(text: String) throws {
        #expect(try #require(ListenAddress(text)).description == text)
    }

    @Test(
        "What is no address is refused",
        arguments: [
            "", ":", "8080", ":8080", "localhost", "localhost:", "localhost:x", "localhost:+1", "localhost:65536",
            "localhost:080000", "::1:8080", "[]:1", "[localhost]:1", "a b:1", "http://a:1", "a@b:1", "localhost:٣",
            "unix:", "unix:/", "unix:gate.sock", "unix:/run/", "unix:/a b", "unix:/a\0b", "/run/gate.sock",
        ])
    func refusesAddresses(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test("A Unix socket has a path as long as the system takes, no port, and a name of its own in URLs")
    func unixSockets() throws {
        let path = "/" + String(repeating: "a", count: 106)
        let address = try #require(ListenAddress("unix:\(path)"))
        #expect(address.path == path && address.port == 0 && address.authority == "localhost")
        #expect(ListenAddress("unix:\(path)a") == nil)
        #expect(try #require(ListenAddress("[::1]:80")).authority == "[::1]:80")
    }
}
