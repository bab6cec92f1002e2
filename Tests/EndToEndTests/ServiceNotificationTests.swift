import BasicsForTests
import Foundation
import Testing

@testable import gatehouse

/// What a service manager is told (sd_notify(3)).
@Suite(.blocking) struct ServiceNotificationTests {
    private static func freshPath() -> String { "/tmp/gh-\(UUID().uuidString.prefix(8)).sock" }

    /// The datagram that has arrived; nil for none.
    private static func received(_ descriptor: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    @Test("A state is sent to a path, and to a name of the abstract namespace", arguments: ["/tmp/gh-", "@gh-"])
    func send(prefix: String) throws {
        let place = prefix + UUID().uuidString
        let descriptor = try SocketAddressing.datagrams(at: place)
        defer {
            close(descriptor)
            unlink(place)
        }
        #expect(ServiceNotification.send("READY=1", to: place))
        #expect(Self.received(descriptor) == "READY=1")
        #expect(Self.received(descriptor) == nil)
    }

    @Test(
        "Nothing is sent to what is no address, or has no reader",
        arguments: [
            "", "/", "relative", "vsock:2:1", "/tmp/gh-nobody-reads-here", "/" + String(repeating: "x", count: 107),
        ])
    func unsendable(place: String) {
        #expect(!ServiceNotification.send("READY=1", to: place))
    }

    @Test("The gateway tells that it is ready once it accepts connections, and says so where it can't")
    func ready() async throws {
        let place = Self.freshPath()
        let descriptor = try SocketAddressing.datagrams(at: place)
        defer {
            close(descriptor)
            unlink(place)
        }
        let gateway = try await GatewayProcess.start("", users: [], environment: ["NOTIFY_SOCKET": place])
        defer { gateway.stop() }
        #expect(Self.received(descriptor) == "READY=1" && Self.received(descriptor) == nil)
        #expect(!gateway.log.contains("service manager"))
        let other = try await GatewayProcess.start("", users: [], environment: ["NOTIFY_SOCKET": place + "x"])
        defer { other.stop() }
        #expect(try await eventually { other.log.contains("service manager could not be told") })
    }
}
