import HTTPWire
import Leases
import NIOCore
import RandomForTests
import Testing

@testable import Sockets

/// An embedded socket's life, without sockets, on a clock that only moves when it is told to.
@Suite struct EmbeddedSocketMachineTests {
    private static let end = LeaseEnd.sessionEnded
    private static let interval = TimeAmount.seconds(25)

    /// One masked frame (with a key of zeros); `first` is FIN and opcode.
    private static func frame(_ first: UInt8, _ payload: [UInt8] = []) -> ByteBuffer {
        var frame = ByteBuffer(bytes: [first, 0x80 | UInt8(truncatingIfNeeded: payload.count), 0, 0, 0, 0])
        frame.writeBytes(payload)
        return frame
    }

    /// A machine, and what it has asked for since it was last looked at, one word for each action.
    private struct Socket {
        var machine = EmbeddedSocketMachine(maxMessage: 64, pingInterval: EmbeddedSocketMachineTests.interval)
        var now = NIODeadline.uptimeNanoseconds(0)
        var applicationTakes = true
        var clientTakes = true

        mutating func act() -> [String] {
            var words: [String] = []
            while let action = machine.next(applicationTakes: applicationTakes, clientTakes: clientTakes) {
                words.append(Self.word(action))
            }
            return words
        }

        static func word(_ action: EmbeddedSocketMachine.Action) -> String {
            switch action {
            case .deliverText(let text): "text \(String(buffer: text))"
            case .deliverBinary(let bytes): "binary \(bytes.readableBytes)"
            case .write(var frame):
                switch frame.readInteger(as: UInt8.self) {
                case 0x88:
                    frame.readInteger(as: UInt8.self) == 0
                        ? "close" : "close \(frame.readInteger(as: UInt16.self) ?? 0) \(String(buffer: frame))"
                case 0x89: "ping"
                case 0x8A: "pong \(String(buffer: frame).dropFirst())"
                default: "?"
                }
            case .flush: "flush"
            case .giveBack: "give back"
            case .limitClosing: "limit"
            case .finish: "finish"
            case .cut: "cut"
            case .read: "read"
            }
        }

        static func opened() -> Socket {
            var socket = Socket()
            socket.machine.opened(now: socket.now)
            return socket
        }

        mutating func receives(_ bytes: ByteBuffer) -> [String] {
            machine.received(bytes, now: now)
            return act()
        }

        mutating func waits(_ time: TimeAmount) -> [String] {
            now = now + time
            machine.timePassed(now: now)
            return act()
        }
    }

    // MARK: Every state and every event

    private enum State: CaseIterable { case unopened, open, unsettled, awaitingClose, over }
    private enum Event: CaseIterable {
        case opened, message, ping, close, violation, gone, pingTime, lease, settle, ownClose, writable
    }

    private static func socket(in state: State) -> Socket {
        if state == .unopened { return Socket() }
        var socket = Socket.opened()
        switch state {
        case .unopened, .open: break
        case .unsettled: socket.machine.leaseEnded(end)
        case .awaitingClose: socket.machine.close(.overloaded)
        case .over: socket.machine.clientGone()
        }
        _ = socket.act()
        return socket
    }

    private static func expected(_ state: State, _ event: Event) -> [String] {
        switch (state, event) {
        case (.open, .message): ["text hi"]
        case (.open, .ping): ["pong x", "flush"]
        case (.open, .close): ["close 1000 ", "give back", "finish", "read"]
        case (.open, .violation): ["close 1002 ", "give back", "finish", "read"]
        case (.open, .gone), (.unopened, .gone), (.unsettled, .gone): ["give back"]
        case (.open, .pingTime): ["ping", "flush"]
        case (.open, .lease): ["close 4403 session_ended", "flush"]
        case (.open, .ownClose): ["close 1013 overloaded", "flush", "give back", "limit", "read"]
        case (.unsettled, .settle): ["give back", "limit", "read"]
        case (.awaitingClose, .close), (.awaitingClose, .violation): ["finish"]
        case (.unopened, _), (.open, _), (.unsettled, _), (.awaitingClose, _), (.over, _): []
        }
    }

    @Test("Every event in every state", arguments: State.allCases, Event.allCases)
    private func table(state: State, event: Event) {
        var socket = Self.socket(in: state)
        switch event {
        case .opened: socket.machine.opened(now: socket.now)
        case .message: socket.machine.received(Self.frame(0x81, Array("hi".utf8)), now: socket.now)
        case .ping: socket.machine.received(Self.frame(0x89, Array("x".utf8)), now: socket.now)
        case .close: socket.machine.received(Self.frame(0x88, [3, 0xE8]), now: socket.now)
        case .violation: socket.machine.received(ByteBuffer(bytes: [0xFF]), now: socket.now)
        case .gone: socket.machine.clientGone()
        case .pingTime: socket.machine.timePassed(now: socket.now + Self.interval)
        case .lease: socket.machine.leaseEnded(Self.end)
        case .settle: socket.machine.settle()
        case .ownClose: socket.machine.close(.overloaded)
        case .writable: socket.machine.clientBecameWritable()
        }
        #expect(socket.act() == Self.expected(state, event))
    }

    // MARK: Behaviours

    @Test("A client that answers nothing is cut after two pings; any byte of its counts as an answer")
    func keepAlive() {
        var socket = Socket.opened()
        for _ in 1...5 {
            #expect(socket.waits(Self.interval) == ["ping", "flush"])
            #expect(socket.receives(ByteBuffer(bytes: [0x8A])).isEmpty)
            #expect(socket.receives(ByteBuffer(bytes: [0x80, 0, 0, 0, 0])).isEmpty)
        }
        #expect(socket.waits(Self.interval) == ["ping", "flush"])
        #expect(socket.waits(Self.interval) == ["ping", "flush"])
        #expect(socket.machine.due == socket.now + Self.interval)
        #expect(socket.waits(Self.interval) == ["give back", "cut"])
        #expect(socket.machine.due == nil && socket.waits(Self.interval).isEmpty)
    }

    @Test("Without an interval no ping is due")
    func noPings() {
        var socket = Socket()
        socket.machine = EmbeddedSocketMachine(maxMessage: 64, pingInterval: .zero)
        socket.machine.opened(now: socket.now)
        #expect(socket.machine.due == nil)
        #expect(socket.waits(.hours(1)).isEmpty)
        // A message that is not whole is still bounded.
        #expect(socket.receives(Self.frame(0x01, [0x61])).isEmpty)
        #expect(socket.machine.due == socket.now + EmbeddedSocketMachine.messageTime)
        #expect(socket.waits(.seconds(61)).first == "close 1008 message_too_slow")
    }

    @Test("Messages wait while the application or the client takes none, and come out whole and in order")
    func pressure() {
        var socket = Socket.opened()
        socket.applicationTakes = false
        #expect(socket.receives(Self.frame(0x81, Array("a".utf8))).isEmpty)
        #expect(!socket.machine.wantsBytes(applicationTakes: false, clientTakes: true))
        socket.applicationTakes = true
        socket.clientTakes = false
        #expect(socket.receives(Self.frame(0x82, Array("bc".utf8))).isEmpty)
        #expect(!socket.machine.wantsBytes(applicationTakes: true, clientTakes: false))
        socket.clientTakes = true
        #expect(socket.act() == ["text a", "binary 2"])
        #expect(socket.machine.wantsBytes(applicationTakes: true, clientTakes: true))
    }

    @Test("A client that does not read is sent a megabyte and no more; what the application waits for does not count")
    func backlog() {
        var socket = Socket.opened()
        let part = 64 * 1024
        func sends(_ count: Int, isAwaited: Bool = false) -> Bool {
            socket.machine.maySend(count, clientTakes: false, isAwaited: isAwaited)
        }
        for _ in 1...40 { #expect(sends(part, isAwaited: true)) }
        for _ in 1...16 { #expect(sends(part)) }
        socket.machine.clientBecameWritable()
        for _ in 1...16 { #expect(sends(part)) }
        #expect(!sends(1))
        #expect(socket.act() == ["close 1013 overloaded", "flush", "give back", "limit", "read"])
        #expect(!sends(1, isAwaited: true))
    }

    @Test("A message of just the longest length is taken, one byte more is refused before it arrives")
    func maxMessage() {
        var socket = Socket.opened()
        #expect(socket.receives(Self.frame(0x82, [UInt8](repeating: 0, count: 64))) == ["binary 64"])
        #expect(socket.receives(ByteBuffer(bytes: [0x82, 0x80 | 65, 0, 0, 0, 0])).first == "close 1009 ")
    }

    @Test("After the gateway's Close only the client's counts, also among other frames")
    func awaitsClose() {
        var socket = Self.socket(in: .unsettled)
        // What came before the rest was settled is looked through as well.
        #expect(socket.receives(Self.frame(0x81, Array("a".utf8))).isEmpty)
        socket.machine.settle()
        #expect(socket.act() == ["give back", "limit", "read"])
        #expect(socket.receives(Self.frame(0x89)).isEmpty)
        #expect(socket.machine.wantsBytes(applicationTakes: false, clientTakes: false))
        #expect(socket.receives(Self.frame(0x88)) == ["finish"])
        socket.machine.clientGone()
        #expect(socket.act().isEmpty)
    }

    @Test("In any order of events there is one Close at most, nothing behind it, and everything is given back once")
    func schedules() {
        for seed in 0..<Schedules.count {
            var random = SeededGenerator(seed: seed)
            var socket = Socket()
            var words: [String] = []
            var isClosing = false
            var sent = 0
            for _ in 0..<60 {
                socket.now = socket.now + .milliseconds(Int64.random(in: 0...4_000, using: &random))
                socket.applicationTakes = Int.random(in: 0..<5, using: &random) > 0
                socket.clientTakes = Int.random(in: 0..<5, using: &random) > 0
                switch Int.random(in: 0..<40, using: &random) {
                case 0..<4: socket.machine.opened(now: socket.now)
                case 4..<14:
                    socket.machine.received(Self.frame(0x81, Array("\(sent)".utf8)), now: socket.now)
                    sent += 1
                case 14..<18: socket.machine.received(Self.frame(0x89), now: socket.now)
                case 18..<24: socket.machine.timePassed(now: socket.now)
                case 24..<30:
                    let maySend = socket.machine.maySend(
                        10, clientTakes: socket.clientTakes, isAwaited: Bool.random(using: &random))
                    if maySend, isClosing { Issue.record("seed \(seed)") }
                case 30: socket.machine.leaseEnded(Self.end)
                case 31: socket.machine.settle()
                case 32: socket.machine.close(.overloaded)
                case 33 where seed % 3 == 0: socket.machine.received(Self.frame(0x88), now: socket.now)
                case 34 where seed % 3 == 1: socket.machine.received(ByteBuffer(bytes: [0xFF]), now: socket.now)
                case 35: socket.machine.clientGone()
                default: socket.machine.clientBecameWritable()
                }
                let new = socket.act()
                if isClosing {
                    let frames = new.filter { ["close", "ping", "pong", "text"].contains($0.prefix { $0 != " " }) }
                    #expect(frames.isEmpty, "seed \(seed): \(words) \(new)")
                } else {
                    isClosing = new.contains { $0.hasPrefix("close") }
                }
                words += new
            }
            socket.machine.settle()
            socket.machine.clientGone()
            words += socket.act()
            #expect(words.filter { $0 == "give back" }.count == 1, "seed \(seed): \(words)")
            #expect(words.filter { $0.hasPrefix("close") }.count <= 1, "seed \(seed): \(words)")
            let delivered = words.filter { $0.hasPrefix("text ") }
            #expect(delivered == delivered.indices.map { "text \($0)" }, "seed \(seed): \(words)")
        }
    }
}
