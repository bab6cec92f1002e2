import Experience
import Foundation
import IdentityProviders
import Testing

/// Requests to servers that the gateway does not know: where they may go, and what they may cost.
@Suite(.blocking) struct GuardedFetchTests {
    private static let loopback = AddressGuard(allowsLoopback: true)
    /// In milliseconds: a resolver that is out of reach takes its time to say so.
    private static let patience: Int64 = 120_000

    private static func fetch<Value: Sendable>(
        _ body: (GuardedFetch) async throws -> Value
    ) async throws -> Value {
        let fetch = try GuardedFetch()
        do {
            let value = try await body(fetch)
            await fetch.shutdown()
            return value
        } catch {
            await fetch.shutdown()
            throw error
        }
    }

    private static func request(_ url: String, _ addresses: AddressGuard = loopback) throws -> ProviderRequest {
        ProviderRequest(.get, try #require(EndpointURL(url)), addresses: addresses)
    }

    private static func fault(
        _ url: String, _ addresses: AddressGuard = loopback, timeout: Int64 = patience
    ) async throws
        -> ProviderFault.Reason?
    {
        let request = try request(url, addresses)
        return try await fetch { fetch in
            do throws(ProviderFault) {
                _ = try await fetch.send(request, timeout: timeout)
                return nil
            } catch {
                return error.reason
            }
        }
    }

    @Test("A name is connected to where it leads, and the server is told the name")
    func name() async throws {
        let server = try RecordingUpstream()
        defer { server.stop() }
        // localhost has an address for each family, and only one of them listens.
        let answer = try await Self.fetch {
            try await $0.send(try Self.request("http://localhost:\(server.port)/a?b"), timeout: Self.patience)
        }
        #expect(answer.status == 200 && answer.body == Array("ok".utf8))
        #expect(server.requests.first?.target == "/a?b")
        #expect(server.requests.first?["host"] == "localhost:\(server.port)")
    }

    @Test(
        "What leads to an address that is not allowed is refused without a connection, as a name or a number",
        arguments: ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
    func refused(host: String) async throws {
        let server = try RecordingUpstream()
        defer { server.stop() }
        #expect(try await Self.fault("http://\(host):\(server.port)/", AddressGuard()) == .addressRefused)
        #expect(server.connectionCount == 0)
    }

    @Test("Link-local addresses, where clouds keep their metadata, are refused even where loopback is allowed")
    func metadata() async throws {
        #expect(try await Self.fault("http://169.254.169.254/latest/") == .addressRefused)
        #expect(try await Self.fault("http://10.0.0.1/") == .addressRefused)
    }

    @Test("Redirects are not followed")
    func redirect() async throws {
        let target = try RecordingUpstream()
        defer { target.stop() }
        let server = try RecordingUpstream { _, stream in
            try stream.send("HTTP/1.1 302 X\r\nLocation: \(target.url)/\r\nContent-Length: 0\r\n\r\n")
            return .keep
        }
        defer { server.stop() }
        let answer = try await Self.fetch {
            try await $0.send(try Self.request(server.url + "/"), timeout: Self.patience)
        }
        #expect(answer.status == 302 && target.connectionCount == 0)
    }

    @Test("Too many bytes, too much time, an early end and no server have their own reasons")
    func faults() async throws {
        let large = try RecordingUpstream { _, stream in
            try stream.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n"
            // Until the client has had enough: an end of the server's own would be another fault.
            for _ in 0..<10_000 { try stream.send(chunk) }
            return .close
        }
        defer { large.stop() }
        #expect(try await Self.fault(large.url + "/") == .tooLarge)
        // A byte now and then does not keep a request alive.
        let slow = try RecordingUpstream { _, stream in
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for _ in 0..<100 {
                try stream.send("x")
                Thread.sleep(forTimeInterval: 0.1)
            }
            return .close
        }
        defer { slow.stop() }
        let began = ContinuousClock.now
        #expect(try await Self.fault(slow.url + "/", timeout: 500) == .timedOut)
        // The whole would take ten seconds.
        #expect(ContinuousClock.now - began < .seconds(9))
        let short = try RecordingUpstream { _, stream in
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
            return .close
        }
        defer { short.stop() }
        #expect(try await Self.fault(short.url + "/") == .unreachable)
        #expect(try await Self.fault("http://127.0.0.1:\(try SocketAddressing.unusedPort())/") == .unreachable)
        #expect(try await Self.fault("https://name.invalid/", AddressGuard()) == .unreachable)
    }

    @Test("Connections are used again, and clients of many hosts do not pile up")
    func reuse() async throws {
        let server = try RecordingUpstream()
        defer { server.stop() }
        try await Self.fetch { fetch in
            for _ in 0..<5 { _ = try await fetch.send(try Self.request(server.url + "/"), timeout: Self.patience) }
            #expect(server.connectionCount == 1)
            // Each is a host of its own.
            for number in 2..<60 {
                let request = try Self.request("http://127.0.0.\(number):\(server.port)/")
                _ = try? await fetch.send(request, timeout: Self.patience)
            }
        }
    }
}
