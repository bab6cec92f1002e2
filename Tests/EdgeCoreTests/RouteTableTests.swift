import HTTPWire
import NIOCore
import Testing

@testable import EdgeConfiguration
@testable import EdgeCore

@Suite struct RouteTableTests {
    private static func route(_ path: String, host: String? = nil, methods: [String]? = nil) -> RouteConfiguration {
        var route = RouteConfiguration(path: path)
        route.host = host
        route.methods = methods
        return route
    }

    private static let table = RouteTable([
        route("/"), route("/orders"), route("/orders/new/"), route("/h"), route("/h", host: "Shop.example"),
        route("/get", methods: ["GET", "HEAD"]), route("/get", methods: ["PUT"]),
        route("/dot", host: "Shop.example."),
    ])

    private static func index(_ path: String, host: String = "any", method: String = "GET") -> Int? {
        let match = table.match(path: Array(path.utf8), host: Array(host.utf8), method: Array(method.utf8))
        guard case .route(let route) = match else { return nil }
        return route.index
    }

    @Test(
        "The longest prefix wins and ends at a segment",
        arguments: [
            ("/", 0), ("/x", 0), ("/orders", 1), ("/orders/", 1), ("/orders2", 0), ("/orders/new", 2),
            ("/orders/newer", 1), ("/h/x", 3),
        ])
    func prefixes(path: String, index: Int) { #expect(Self.index(path) == index) }

    @Test("Among equals the route that names the host wins; methods choose among the rest")
    func hostsAndMethods() {
        #expect(Self.index("/h", host: "shop.example") == 4 && Self.index("/h", host: "other") == 3)
        #expect(Self.index("/dot", host: "shop.example") == 7 && Self.index("/dot", host: "other") == 0)
        #expect(Self.index("/get", method: "HEAD") == 5 && Self.index("/get", method: "PUT") == 6)
        guard
            case .methodNotAllowed(let allowed) = Self.table.match(
                path: Array("/get".utf8), host: [], method: Array("POST".utf8))
        else {
            Issue.record("a method that no route takes was routed")
            return
        }
        #expect(allowed == ["GET", "HEAD", "PUT"])
    }

    @Test("A preflight is matched by the method it asks for")
    func preflights() throws {
        func match(_ text: String) throws -> Int? {
            var buffer = ByteBuffer(string: text + "\r\n\r\n")
            guard case .head(let head) = RequestHead.parse(&buffer) else { return nil }
            guard case .route(let route) = Self.table.match(path: Array("/get".utf8), host: "h", head: head) else {
                return nil
            }
            return route.index
        }
        let start = "OPTIONS /get HTTP/1.1\r\nHost: h"
        #expect(try match(start + "\r\nOrigin: https://a\r\nAccess-Control-Request-Method: PUT") == 6)
        #expect(try match(start + "\r\nOrigin: https://a\r\nAccess-Control-Request-Method: POST") == nil)
        #expect(try match(start) == nil)
    }

    @Test(
        "Path parameters that hide another route or an own path are ambiguous",
        arguments: [
            ("/x;a=b", false), ("/orders/1;v=2", false), ("/orders;x", true), ("/orders;x/new", true),
            ("/orders%3Bx", true),
            ("/;x/orders", true), ("/x/;a", false), ("/api/auth;x/me", true), ("/api;/session/current", true),
            ("/x/y;", false),
        ])
    func parameters(path: String, isAmbiguous: Bool) {
        let found = PathParameters.areAmbiguous(
            in: Array(path.utf8), besides: OwnPaths(api: ["/api/auth/login", "/api/session", "/oauth2/token"])
        ) {
            Self.table.match(path: $0, host: [], method: Array("GET".utf8))
        }
        #expect(found == isAmbiguous)
    }

    @Test(
        "Escaped escapes that hide another route or an own path are ambiguous",
        arguments: [
            ("/x/50%25", false), ("/x/%2561", false), ("/orders/%2561", false), ("/%256frders", true),
            ("/orders/%256Eew", true), ("/ap%2569/session/current", true), ("/x%25zz", false), ("/x/%25%2561", false),
            ("/x/50%25add", false), ("/%256frders/50%25add", true), ("/x/%25C3%25A9", false),
        ])
    func escapedEscapes(path: String, isAmbiguous: Bool) {
        let found = EscapedEscapes.areAmbiguous(
            in: Array(path.utf8), besides: OwnPaths(api: ["/api/auth/login", "/api/session", "/oauth2/token"])
        ) {
            Self.table.match(path: $0, host: [], method: Array("GET".utf8))
        }
        #expect(found == isAmbiguous)
    }

    @Test("A prefix is cut off only where the route says so")
    func upstreamPath() {
        var configuration = RouteConfiguration(path: "/orders")
        let path = Array("/orders/1".utf8)
        #expect(Array(Route(configuration, index: 0).upstreamPath(of: path)) == path)
        configuration.stripPrefix = true
        #expect(Array(Route(configuration, index: 0).upstreamPath(of: path)) == Array("/1".utf8))
        #expect(Array(Route(configuration, index: 0).upstreamPath(of: Array("/orders".utf8))) == Array("/".utf8))
    }

    /// The edge knows paths in their canonical form alone, so this is what stands between a guarded route and an open
    /// one.
    @Test(
        "A route covers every spelling of its path, whichever the configuration has", arguments: UInt8.min...UInt8.max)
    func everySpelling(byte: UInt8) throws {
        let escape = "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        var spellings = ["/p\(escape)x", "/p\(escape.uppercased())x"]
        if byte < 0x80 { spellings.append("/p\(UnicodeScalar(byte))x") }
        for configured in spellings {
            guard RoutePath.canonical(configured) != nil else { continue }
            let table = RouteTable([Self.route("/"), Self.route(configured)])
            for asked in spellings {
                let canonical = try? CanonicalPath(ByteBuffer(string: asked), allowEncodedSlash: true)
                guard let path = canonical?.bytes else { continue }
                let match = table.match(path: Array(path.readableBytesView), host: [], method: [])
                guard case .route(let route) = match else {
                    Issue.record("no route for \(asked)")
                    continue
                }
                // Raw slashes, and raw semicolons, mean something else than their escapes; neither escape is
                // configurable.
                let isItself = byte != UInt8(ascii: "/") || configured == asked
                #expect((route.index == 1) == isItself, "\(configured) \(asked)")
            }
        }
        let cannotBe: Set<UInt8> = Set(0...0x1f).union(0x7f...0xff).union(";\\".utf8)
        #expect((RoutePath.canonical(spellings[0]) == nil) == (cannotBe.contains(byte) || byte == UInt8(ascii: "/")))
    }

    @Test(
        "A host is compared without its port and final dot",
        arguments: [
            ("h:80", "h"), ("h.", "h"), ("h.:443", "h"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), (".", "."),
            ("", ""),
        ])
    func hosts(host: String, name: String) { #expect(HostName.withoutPort(Array(host.utf8)) == Array(name.utf8)) }
}
