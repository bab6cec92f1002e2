import HTTPWire
import Leases
import NIOCore
import RandomForTests
import Testing

@testable import Sockets

/// A relayed socket's life, without sockets.
@Suite struct SocketRelayMachineTests {
    private typealias Action = SocketRelayMachine.Action
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private static let frame = ByteBuffer(bytes: [0x82, 3, 1, 2, 3])
    private static let half = ByteBuffer(bytes: [0x82, 3, 1])
    private static let close = ByteBuffer(bytes: [0x88, 0])
    private static let end = LeaseEnd.sessionEnded

    private enum State: CaseIterable { case unopened, relaying, inFrame, finishingFrame, unsettled, over }
    private enum Event: CaseIterable {
        case opened, clientSent, clientSentAll, clientWritable, clientGone, clientReset, upstreamSent, upstreamSentAll,
            upstreamWritable, upstreamClosed, leaseEnded, settle, time
    }

    private static func machine(in state: State) -> SocketRelayMachine {
        var machine = SocketRelayMachine(early: ByteBuffer())
        if state == .unopened { return machine }
        _ = machine.opened()
        if state == .inFrame || state == .finishingFrame { _ = machine.upstreamSent(half) }
        if state == .finishingFrame || state == .unsettled { _ = machine.leaseEnded(end, now: start) }
        if state == .over { _ = machine.upstreamClosed() }
        return machine
    }

    private static func expected(_ state: State, _ event: Event) -> [Action] {
        let isRelaying = state == .relaying || state == .inFrame
        switch event {
        case .opened: return state == .unopened ? [.readUpstream] : []
        case .clientSent: return isRelaying ? [.writeToUpstream(frame)] : []
        case .clientSentAll: return isRelaying || state == .finishingFrame ? [.flushUpstream] : []
        case .upstreamSentAll: return isRelaying || state == .finishingFrame ? [.flushClient] : []
        case .clientWritable: return [.readUpstream]
        case .upstreamWritable: return state == .unopened ? [] : [.readClient]
        case .clientGone, .clientReset:
            if state == .over { return [] }
            let finishes = event == .clientGone && state != .unsettled
            return [.giveBack, finishes ? .finishUpstream : .closeUpstream]
        case .upstreamSent:
            if isRelaying { return [.writeToClient(frame)] }
            guard state == .finishingFrame else { return [] }
            return [.writeToClient(ByteBuffer(bytes: [0x82, 3])), .writeToClient(end.frame), .flushClientNow] + settled
        case .upstreamClosed:
            if state == .unopened { return [.giveBack, .closeUpstream, .closeClient] }
            return isRelaying || state == .finishingFrame
                ? [.giveBack, .closeUpstream, .finishClient(within: .seconds(5))] : []
        case .leaseEnded:
            if state == .relaying { return [.writeToClient(end.frame), .flushClientNow] }
            return state == .inFrame ? [.wait(.milliseconds(80))] : []
        case .settle: return state == .unsettled ? settled : []
        case .time: return state == .finishingFrame ? [.giveBack, .closeUpstream, .closeClient] : []
        }
    }

    private static let settled: [Action] = [.giveBack, .closeUpstream, .finishClient(within: .seconds(1)), .readClient]

    @Test("Every event in every state", arguments: State.allCases, Event.allCases)
    private func table(state: State, event: Event) {
        var machine = Self.machine(in: state)
        let actions =
            switch event {
            case .opened: machine.opened()
            case .clientSent: machine.clientSent(Self.frame)
            case .clientSentAll: machine.clientSentAll()
            case .clientWritable: machine.clientBecameWritable()
            case .clientGone: machine.clientGone(wasReset: false)
            case .clientReset: machine.clientGone(wasReset: true)
            case .upstreamSent: machine.upstreamSent(Self.frame)
            case .upstreamSentAll: machine.upstreamSentAll()
            case .upstreamWritable: machine.upstreamBecameWritable()
            case .upstreamClosed: machine.upstreamClosed()
            case .leaseEnded: machine.leaseEnded(Self.end, now: Self.start)
            case .settle: machine.settle()
            case .time: machine.timePassed(now: Self.start + .milliseconds(80))
            }
        #expect(Array(actions) == Self.expected(state, event))
    }

    @Test("What the upstream sends behind its 101 waits until the client has its own")
    func early() {
        var machine = SocketRelayMachine(early: ByteBuffer(bytes: [0x81]))
        #expect(Array(machine.upstreamSent(ByteBuffer(bytes: [1, 0x78, 0x88, 0]))).isEmpty)
        #expect(!machine.wantsUpstreamBytes(clientTakes: true))
        let all = ByteBuffer(bytes: [0x81, 1, 0x78, 0x88, 0])
        #expect(Array(machine.opened()) == [.writeToClient(all), .flushClient, .readUpstream])
        // Its borders were followed: there has been a Close, behind which nothing may be put.
        #expect(Array(machine.leaseEnded(Self.end, now: Self.start)) == [.flushClientNow])
    }

    @Test("A frame whose end does not come in time is cut, and not a moment before")
    func border() {
        var machine = Self.machine(in: .finishingFrame)
        #expect(Array(machine.timePassed(now: Self.start + .milliseconds(79))).isEmpty)
        #expect(Array(machine.upstreamSent(ByteBuffer(bytes: [2]))) == [.writeToClient(ByteBuffer(bytes: [2]))])
        #expect(Array(machine.timePassed(now: Self.start + .milliseconds(80))).contains(.closeClient))
    }

    @Test("A frame of impossible length has no end to wait for")
    func broken() {
        var machine = Self.machine(in: .relaying)
        _ = machine.upstreamSent(ByteBuffer(bytes: [0x82, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0]))
        #expect(Array(machine.leaseEnded(Self.end, now: Self.start)) == [.wait(.milliseconds(80))])
        #expect(Array(machine.upstreamSent(Self.frame)) == [.giveBack, .closeUpstream, .closeClient])
    }

    @Test("A side that takes nothing is not read for; what can't be passed on any more is read to be dropped")
    func pressure() {
        for state in State.allCases {
            let machine = Self.machine(in: state)
            let passes = [.unopened, .relaying, .inFrame].contains(state)
            #expect(machine.wantsClientBytes(upstreamTakes: false) == !passes)
            #expect(machine.wantsClientBytes(upstreamTakes: true))
            #expect(machine.wantsUpstreamBytes(clientTakes: true) == (state != .unopened))
            #expect(!machine.wantsUpstreamBytes(clientTakes: false))
        }
    }

    // MARK: Any order

    /// What both sides were sent and got, kept while a seed decides what happens next.
    private struct World {
        var random: SeededGenerator
        var machine: SocketRelayMachine
        var now = SocketRelayMachineTests.start
        var timer: NIODeadline?
        var isOpened = false
        var isRelayed = true
        /// What each side has sent while the socket was open, and what the other side was given.
        var fromClient: [UInt8] = []
        var toUpstream: [UInt8] = []
        var fromUpstream: [UInt8] = []
        var toClient: [UInt8] = []
        var borders = FrameTracker()
        var closes = 0
        var gaveBack = 0
        var closedUpstream = 0
        var closedClient = 0
        var faults: [String] = []

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            machine = SocketRelayMachine(early: ByteBuffer())
        }

        mutating func perform(_ actions: ActionList<Action>) {
            for action in actions {
                switch action {
                case .writeToUpstream(let bytes): toUpstream += Array(bytes.readableBytesView)
                case .writeToClient(let bytes):
                    if closedClient > 0 || closes > 0 { faults.append("bytes behind the end") }
                    if bytes == SocketRelayMachineTests.end.frame {
                        closes += 1
                        if !borders.isAtBoundary { faults.append("a Close within a frame") }
                    } else {
                        _ = borders.advance(over: bytes)
                        toClient += Array(bytes.readableBytesView)
                    }
                case .giveBack: gaveBack += 1
                case .closeUpstream, .finishUpstream: closedUpstream += 1
                case .closeClient, .finishClient: closedClient += 1
                case .wait(let time): timer = now + time
                case .readClient, .readUpstream, .flushClient, .flushClientNow, .flushUpstream: break
                }
            }
        }

        /// A frame, in up to three pieces.
        mutating func upstreamFrame() -> [ByteBuffer] {
            let count = Int.random(in: 0...40, using: &random)
            var bytes = [0x82, UInt8(count)] + (0..<count).map { UInt8($0) }
            var pieces: [ByteBuffer] = []
            while !bytes.isEmpty {
                let piece = bytes.prefix(
                    pieces.count == 2 ? bytes.count : Int.random(in: 1...bytes.count, using: &random))
                bytes.removeFirst(piece.count)
                pieces.append(ByteBuffer(bytes: piece))
            }
            return pieces
        }

        mutating func step(_ pieces: inout [ByteBuffer]) {
            now = now + .milliseconds(Int64.random(in: 0...30, using: &random))
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<12:
                let bytes = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let isRelaying = isOpened && isRelayed
                if isRelaying { fromClient += bytes }
                if isOpened { perform(machine.clientSent(ByteBuffer(bytes: bytes))) }
            case 12..<28:
                if pieces.isEmpty { pieces = upstreamFrame() }
                let piece = pieces.removeFirst()
                fromUpstream += Array(piece.readableBytesView)
                perform(machine.upstreamSent(piece))
            case 28..<32:
                isOpened = true
                perform(machine.opened())
            case 32:
                if isOpened, gaveBack == 0 { isRelayed = false }
                perform(machine.leaseEnded(SocketRelayMachineTests.end, now: now))
                if Bool.random(using: &random) { perform(machine.settle()) }
            case 33: perform(machine.settle())
            case 34 where Int.random(in: 0..<4, using: &random) == 0:
                isRelayed = false
                closedClient += closedClient == 0 && gaveBack == 0 ? 1 : 0
                perform(machine.clientGone(wasReset: Bool.random(using: &random)))
            case 35 where Int.random(in: 0..<4, using: &random) == 0:
                isRelayed = false
                perform(machine.upstreamClosed())
            default:
                perform(machine.upstreamSentAll())
                perform(machine.clientSentAll())
            }
            if let timer, now >= timer { perform(machine.timePassed(now: now)) }
        }
    }

    @Test("In any order of events bytes are conserved, each side is closed once, and nothing follows the Close")
    func schedules() {
        var closes = 0
        var cuts = 0
        for seed in 0..<Schedules.count {
            var world = World(seed: seed)
            var pieces: [ByteBuffer] = []
            for _ in 0..<60 { world.step(&pieces) }
            let wasOver = world.gaveBack > 0
            world.perform(world.machine.settle())
            if let timer = world.timer { world.perform(world.machine.timePassed(now: timer)) }
            if world.gaveBack == 0 { world.perform(world.machine.upstreamClosed()) }
            closes += world.closes
            if wasOver, world.closes == 0 { cuts += 1 }
            #expect(world.faults.isEmpty, "seed \(seed): \(world.faults)")
            #expect(world.toUpstream == world.fromClient, "seed \(seed)")
            #expect(world.fromUpstream.starts(with: world.toClient), "seed \(seed)")
            #expect(world.closes <= 1 && world.gaveBack == 1, "seed \(seed)")
            #expect(world.closedUpstream == 1 && world.closedClient == 1, "seed \(seed)")
        }
        #expect(min(closes, cuts) > Int(Schedules.count) / 40)
    }
}
