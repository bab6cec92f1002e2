import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import Proxy

/// Connections to upstreams on the same machine, which the kernel makes or refuses at once.
@Suite struct LocalConnectionTests {
    /// The code of a refusal; the socket of a connection is closed.
    private static func fault(_ outcome: LocalConnection.Outcome) -> CInt? {
        switch outcome {
        case .failed(errno: let code): return code
        case .undecided: return nil
        case .connected(let socket):
            close(socket)
            return nil
        }
    }

    /// Connects, and says whether the socket is connected and does not block; closes it.
    private static func isConnected(to address: SocketAddress) -> Bool {
        guard case .connected(let socket) = LocalConnection.open(address) else { return false }
        defer { close(socket) }
        var byte: UInt8 = 0
        // A socket without a connection would say so.
        return recv(socket, &byte, 1, 0) == -1 && errno == EAGAIN
    }

    private static func temporaryPath() -> String { "/tmp/gatehouse-local-\(UInt32.random(in: .min ... .max))" }

    @Test("A listener is connected to at once")
    func listeners() async throws {
        let path = Self.temporaryPath()
        defer { unlink(path) }
        let group = MultiThreadedEventLoopGroup.singleton
        let tcp = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let unix = try await ServerBootstrap(group: group).bind(unixDomainSocketPath: path).get()
        let port = try #require(tcp.localAddress)
        let file = try SocketAddress(unixDomainSocketPath: path)
        #expect(Self.isConnected(to: port))
        #expect(Self.isConnected(to: file))
        for channel in [tcp, unix] { try await channel.close().get() }
    }

    @Test("A port without a listener refuses, and a Unix socket that is missing is missing")
    func refusals() throws {
        // A port that is bound and not listened on: no other process can listen there meanwhile.
        let holder = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        try #require(holder >= 0)
        defer { close(holder) }
        let wanted = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let isBound = wanted.withSockAddr { bind(holder, $0, socklen_t($1)) } == 0
        try #require(isBound)
        var name = [UInt8](repeating: 0, count: 128)
        var length = socklen_t(name.count)
        let isNamed = name.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getsockname(holder, $0.assumingMemoryBound(to: sockaddr.self), &length) } == 0
        }
        try #require(isNamed)
        // Behind the family, in the network's order.
        let closed = try SocketAddress(ipAddress: "127.0.0.1", port: Int(name[2]) << 8 | Int(name[3]))
        #expect(Self.fault(LocalConnection.open(closed)) == ECONNREFUSED)

        let missing = try SocketAddress(unixDomainSocketPath: Self.temporaryPath())
        #expect(Self.fault(LocalConnection.open(missing)) == ENOENT)
    }

    @Test("Local is what needs no network")
    func local() throws {
        for text in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            let address = try SocketAddress(ipAddress: text, port: 80)
            #expect(LocalConnection.isLocal(address), "\(text)")
        }
        for text in ["192.0.2.1", "10.0.0.1", "::2", "2001:db8::1"] {
            let address = try SocketAddress(ipAddress: text, port: 80)
            #expect(!LocalConnection.isLocal(address), "\(text)")
        }
        let file = try SocketAddress(unixDomainSocketPath: "/run/upstream.sock")
        #expect(LocalConnection.isLocal(file))
    }
}
