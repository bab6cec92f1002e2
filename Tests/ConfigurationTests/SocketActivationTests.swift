import EdgeConfiguration
import Experience
import Testing

@testable import gatehouse

@Suite("Sockets that systemd passes") struct SocketActivationTests {
    private static let listen = ListenAddress(host: "127.0.0.1", port: 8080)
    private static let admin = ListenAddress(host: "127.0.0.1", port: 9180)

    private static func passed(_ sockets: [(name: String?, port: Int)]) -> [SocketActivation.Passed] {
        sockets.enumerated().map { index, socket in
            .init(
                descriptor: Int32(3 + index), name: socket.name,
                address: ListenAddress(host: "127.0.0.1", port: socket.port))
        }
    }

    @Test(
        "A socket is chosen by its name, else by its address, else the first is the public one",
        arguments: [
            ([("public", 1), ("admin", 2)], 3, 4), ([("admin", 1), ("public", 2)], 4, 3),
            ([("gatehouse.socket", 1), ("gatehouse.socket", 8080)], 4, nil), ([("x", 1)], 3, nil),
            ([("x", 9180), ("y", 1)], 4, 3), ([("admin", 1), ("x", 2)], 4, 3), ([("admin", 1)], nil, 3), ([], nil, nil),
        ] as [([(String, Int)], Int32?, Int32?)])
    func choice(sockets: [(String, Int)], public: Int32?, admin: Int32?) {
        let chosen = SocketActivation.choose(
            among: Self.passed(sockets.map { ($0.0, $0.1) }), listen: Self.listen, admin: Self.admin)
        #expect(chosen == InheritedSockets(public: `public`, admin: admin))
    }

    @Test(
        "No socket is the admin listener's where there is none",
        arguments: [([("admin", 9180)], nil), ([("admin", 1), ("x", 9180)], 4)] as [([(String, Int)], Int32?)])
    func adminOff(sockets: [(String, Int)], public: Int32?) {
        let chosen = SocketActivation.choose(
            among: Self.passed(sockets.map { ($0.0, $0.1) }), listen: Self.listen, admin: nil)
        #expect(chosen == InheritedSockets(public: `public`, admin: nil))
    }

    @Test("Sockets that were passed to another process are left alone")
    func otherProcess() throws {
        let chosen = try SocketActivation.sockets(
            environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"], listen: Self.listen, admin: nil
        ) { Issue.record("\($0) was not passed to this process") }
        #expect(chosen == InheritedSockets())
    }
}
