import RandomForTests
import Testing

@testable import IdentityProviders

@Suite("Where a request may go")
struct NetworkTests {
    @Test(
        "An endpoint has one reading",
        arguments: [
            ("https://idp.example", "idp.example", 443, true), ("https://idp.example/a?b", "idp.example", 443, true),
            ("https://idp.example:8443/", "idp.example", 8443, true),
            ("http://localhost:8080", "localhost", 8080, true),
            ("http://127.0.0.1:80/x", "127.0.0.1", 80, true), ("http://[::1]:9/x", "::1", 9, true),
            ("http://idp.example/", "idp.example", 80, false), ("https://[2606:4700::1]/", "2606:4700::1", 443, true),
            ("https://a-b.xn--p1ai/?", "a-b.xn--p1ai", 443, true),
            ("http://localhost.evil.example", "localhost.evil.example", 80, false),
        ])
    func good(text: String, host: String, port: Int, isSecure: Bool) throws {
        let url = try #require(EndpointURL(text))
        #expect(url.host == host && url.port == port && url.isSecure == isSecure && url.text == text)
    }

    @Test(
        "What two parsers could read differently is no endpoint",
        arguments: [
            "", "idp.example", "ftp://idp.example", "HTTPS://idp.example", "https:/idp.example", "https://",
            "https:///x",
            "https://a@idp.example", "https://idp.example@evil.example/", "https://idp.example#x",
            "https://idp.example\\x",
            "https://idp.example/a b", "https://idp.example/\n", "https://Idp.example", "https://idp.example.",
            "https://.idp.example", "https://idp..example", "https://-idp.example", "https://idp.example:",
            "https://idp.example:0", "https://idp.example:65536", "https://idp.example:+80", "https://2130706433/",
            "https://0x7f.1/", "https://127.1/", "https://0177.0.0.1/", "https://127.0.0.1.", "https://[::1",
            "https://::1/",
            "https://[fe80::1%25eth0]/", "https://[127.0.0.1]/", "https://é.example", "https://idp_x.example",
            "https://idp.example:80:80/", "javascript:alert(1)", "https://idp.example/\u{E9}",
            "https://" + String(repeating: "a", count: 64) + ".example",
        ])
    func bad(text: String) {
        #expect(EndpointURL(text) == nil)
    }

    @Test(
        "An address reaches as far as the registries say",
        arguments: [
            ("8.8.8.8", IPAddress.Reach.global), ("127.0.0.1", .loopback), ("127.255.255.255", .loopback),
            ("128.0.0.0", .global), ("10.0.0.0", .privateUse), ("11.0.0.0", .global), ("172.15.255.255", .global),
            ("172.16.0.0", .privateUse), ("172.31.255.255", .privateUse), ("172.32.0.0", .global),
            ("192.168.0.1", .privateUse), ("192.167.255.255", .global), ("100.63.255.255", .global),
            ("100.64.0.0", .privateUse), ("100.127.255.255", .privateUse), ("100.128.0.0", .global),
            ("169.254.169.254", .linkLocal), ("0.0.0.0", .reserved), ("0.1.2.3", .reserved), ("192.0.2.1", .reserved),
            ("198.18.0.1", .reserved), ("198.19.255.255", .reserved), ("198.20.0.0", .global),
            ("198.51.100.7", .reserved),
            ("203.0.113.7", .reserved), ("224.0.0.1", .reserved), ("239.255.255.255", .reserved),
            ("240.0.0.1", .reserved),
            ("255.255.255.255", .reserved), ("192.88.99.1", .reserved), ("192.0.0.8", .reserved),
            ("::1", .loopback), ("::", .reserved), ("::2", .reserved), ("::127.0.0.1", .reserved),
            ("::ffff:127.0.0.1", .loopback), ("::ffff:8.8.8.8", .global), ("::ffff:a9fe:a9fe", .linkLocal),
            ("64:ff9b::10.0.0.1", .privateUse), ("64:ff9b::8.8.8.8", .global), ("64:ff9b::7f00:1", .loopback),
            ("64:ff9b:1::1", .privateUse), ("fc00::1", .privateUse), ("fdff::1", .privateUse), ("fe80::1", .linkLocal),
            ("febf::1", .linkLocal), ("fec0::1", .privateUse), ("ff02::1", .reserved), ("2606:4700::1111", .global),
            ("2001:db8::1", .reserved), ("2001::1", .reserved), ("2001:1ff::1", .reserved), ("2001:200::1", .global),
            ("2002:7f00:1::", .reserved), ("3fff::1", .reserved), ("3fff:1000::1", .global), ("4000::1", .reserved),
            ("100::1", .reserved), ("5f00::1", .reserved),
        ])
    func reach(text: String, reach: IPAddress.Reach) throws {
        #expect(try #require(IPAddress(text)).reach == reach)
    }

    @Test("Only global addresses may be connected to, unless the configuration says otherwise; reserved ones never")
    func allowed() throws {
        let strict = AddressGuard()
        let local = AddressGuard(allowsLoopback: true)
        let open = AddressGuard(allowsPrivate: true)
        let samples: [(String, strict: Bool, local: Bool, open: Bool)] = [
            ("8.8.8.8", true, true, true), ("127.0.0.1", false, true, true), ("10.0.0.1", false, false, true),
            ("169.254.169.254", false, false, true), ("fd00::1", false, false, true),
            ("224.0.0.1", false, false, false),
            ("::", false, false, false), ("::ffff:127.0.0.1", false, true, true),
        ]
        for sample in samples {
            let address = try #require(IPAddress(sample.0))
            #expect(strict.allows(address) == sample.strict && local.allows(address) == sample.local)
            #expect(open.allows(address) == sample.open)
        }
    }

    @Test(
        "What inet_aton reads and RFC 4291 does not is no address",
        arguments: [
            "", "1", "127.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.-4", "1.2.3.+4", "1.2.3.4 ", ":",
            ":::",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "::12345", "::g", "1:2:3:4:5:6:7::8", "::1.2.3", "::1%lo",
            "[::1]", "1.2.3.4::", "::1.2.3.4:5", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:",
        ])
    func noAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("Bytes of a socket address are the same address as its text") func bytes() throws {
        #expect(IPAddress(bytes: [127, 0, 0, 1]) == IPAddress("127.0.0.1"))
        let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [255, 255, 10, 0, 0, 1]
        #expect(IPAddress(bytes: mapped) == IPAddress("::ffff:10.0.0.1"))
        #expect(IPAddress(bytes: []) == nil && IPAddress(bytes: [1, 2, 3]) == nil)
        #expect(IPAddress("1:2:3:4:5:6:7:8") == .v6(high: 0x0001_0002_0003_0004, low: 0x0005_0006_0007_0008))
        #expect(IPAddress("1::8") == .v6(high: 0x0001_0000_0000_0000, low: 8))
    }

    @Test("Parameters are read as they were written") func form() {
        let all = String((1...0x7F).compactMap { UnicodeScalar($0) }.map(Character.init)) + "é漢"
        let parameters = [FormParameter("a b&=", all), FormParameter("", ""), FormParameter("x", "")]
        #expect(FormText.decode(FormText.encode(parameters)) == parameters)
        // The example of RFC 6749 appendix B.
        #expect(FormText.encodeForm(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
        #expect(FormText.encode(" %20") == "%20%2520" && FormText.encodeForm(" %20") == "+%2520")
        #expect(FormText.decode("a+b=c+d&&e") == [FormParameter("a b", "c d"), FormParameter("e", "")])
        for broken in ["a=%", "a=%4", "a=%zz", "a=%ff", "%=a"] { #expect(FormText.decode(broken) == nil) }
        #expect(FormText.decode(String(repeating: "a&", count: 65)) == nil)
    }

    @Test("Random bytes never break a reader, and what is an endpoint is so again") func random() {
        let pieces = [
            "https://", "http://", "[", "]", "::", "1", "ffff", ":", ".", "/", "?", "@", "%", "a", "-", "127.0.0.1",
            "é", "\\", "%41",
        ]
        var generator = SeededGenerator(seed: 3986)
        for _ in 0..<30_000 {
            let count = Int.random(in: 0...8, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            _ = IPAddress(text)
            _ = AuthorizationResponse(query: text)
            if let parameters = FormText.decode(text) {
                let kept = parameters.filter { !$0.name.isEmpty || !$0.value.isEmpty }
                #expect(
                    (FormText.decode(FormText.encode(parameters)) ?? []).filter {
                        !$0.name.isEmpty || !$0.value.isEmpty
                    } == kept)
            }
            if let url = EndpointURL(text) {
                #expect(!url.host.isEmpty && !url.host.contains("@") && (1...65_535).contains(url.port))
                #expect(EndpointURL(url.adding([FormParameter("a", "b&c")])) != nil || url.text.utf8.count > 2000)
            }
        }
    }
}
