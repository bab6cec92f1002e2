import LeasesForTests
import NIOCore
import NIOEmbedded
import Testing

@testable import EdgeCore
@testable import Gate
@testable import Leases
@testable import Sockets

/// How long a client may be at one message, with a clock that only moves when it is told to.
@Suite struct MessageTimeTests {
    private final class Application: SocketApplication {
        private(set) var texts: [String] = []
        private(set) var isClosed = false
        var wantsMessages: Bool { true }
        func opened(_ socket: EmbeddedSocket) {}
        func received(text: ByteBuffer) { texts.append(String(buffer: text)) }
        func received(binary: ByteBuffer) {}
        func closed() { isClosed = true }
    }

    /// A client of a socket that pings every ten seconds.
    private final class Client {
        private let deadlines = DeadlineWheel(now: .uptimeNanoseconds(0))
        private var now = NIODeadline.uptimeNanoseconds(0)
        let channel = EmbeddedChannel()
        let application = Application()
        let socket: EmbeddedSocket

        init() throws {
            let reservation = try #require(
                SocketReservation(limiter: SocketLimiter(perSession: 1, perUser: 1), session: "s", user: "u"))
            socket = EmbeddedSocket(
                application: application, admission: Admission(.open(OpenRoute(.requiresNothing))),
                reservation: reservation,
                leases: LeaseTable(now: 0), leaseBounds: LeaseBounds(clockSkew: 0, maxLifetime: 0), admittedAt: 0,
                deadlines: deadlines, maxMessage: 1024, pingInterval: .seconds(10))
            socket.opened(on: channel)
        }

        /// One frame, masked with zeros; `first` is FIN and opcode.
        func send(_ first: UInt8, _ text: String = "") {
            var frame = ByteBuffer()
            frame.writeInteger(first)
            frame.writeInteger(0x80 | UInt8(truncatingIfNeeded: text.utf8.count))
            frame.writeInteger(0, as: UInt32.self)
            frame.writeString(text)
            socket.received(frame)
        }

        func pong() { send(0x8A) }
        func wait(_ seconds: Int64) {
            now = now + .seconds(seconds)
            deadlines.turn(now: now)
        }

        /// Code and reason of the Close among what the gateway has sent since it was last asked; nil when there is
        /// none.
        func closing() throws -> String? {
            while var frame = try channel.readOutbound(as: ByteBuffer.self) {
                guard frame.readInteger(as: UInt8.self) == 0x88, frame.readInteger(as: UInt8.self) != nil,
                    let code = frame.readInteger(as: UInt16.self)
                else { continue }
                return "\(code) \(String(buffer: frame))"
            }
            return nil
        }

        func finish() throws { _ = try channel.finish(acceptAlreadyClosed: true) }
    }

    @Test("A message that is not whole after a minute ends the socket, however eagerly its client answers pings")
    func unfinished() throws {
        let client = try Client()
        client.send(0x01, "a")
        for second in 1...6 {
            client.wait(10)
            #expect(try client.closing() == nil, "after \(second * 10) s")
            client.pong()
            client.send(0x89)
            client.send(0x00, "b")
        }
        client.wait(10)
        #expect(try client.closing() == "1008 message_too_slow")
        #expect(client.application.isClosed && client.application.texts.isEmpty)
        try client.finish()
    }

    @Test("A frame that is not whole after a minute ends the socket too, and its bytes answer no ping")
    func unfinishedFrame() throws {
        let client = try Client()
        client.socket.received(ByteBuffer(bytes: [0x81, 0x80 | 20, 0, 0, 0, 0]))
        for _ in 1...6 {
            client.wait(10)
            client.socket.received(ByteBuffer(string: "x"))
        }
        #expect(try client.closing() == nil)
        client.wait(10)
        #expect(try client.closing() == "1008 message_too_slow")
        try client.finish()
    }

    @Test("Each message has a minute of its own, and a client without one has all the time there is")
    func finished() throws {
        let client = try Client()
        for round in 1...3 {
            client.send(0x01, "\(round)")
            for _ in 1...5 {
                client.wait(10)
                client.pong()
                client.send(0x00, ".")
            }
            client.send(0x80, "!")
        }
        #expect(client.application.texts == ["1.....!", "2.....!", "3.....!"])
        for _ in 1...30 {
            client.wait(10)
            client.pong()
        }
        #expect(try client.closing() == nil)
        #expect(!client.application.isClosed)
        try client.finish()
    }

    @Test("Half a ping starts no minute that its other half does not end")
    func control() throws {
        let client = try Client()
        client.socket.received(ByteBuffer(bytes: [0x89, 0x80]))
        client.wait(10)
        client.socket.received(ByteBuffer(bytes: [0, 0, 0, 0]))
        for _ in 1...8 {
            client.wait(10)
            client.pong()
        }
        #expect(try client.closing() == nil)
        try client.finish()
    }
}
