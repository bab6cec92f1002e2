import Answers
import HTTPWire
import NIOCore
import Proxy
import RandomForTests
import Testing

@testable import Sockets

/// A relayed upgrade's handshake, without sockets.
@Suite struct RelayMachineTests {
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    private static let fault = UpstreamFault(reason: "refused", cause: "")

    private static func request() throws -> RequestHead {
        var buffer = ByteBuffer(
            string: """
                GET /ws HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat\r\n\r\n
                """)
        var scanner = HeadScanner()
        guard case .head(let head) = scanner.feed(&buffer) else { throw ChannelError.eof }
        return head
    }

    static func switching(_ more: String = "", accept: String = accept) -> String {
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\(more)\r\n"
    }

    /// A machine, and what it has asked for since it was last looked at, one word for each action.
    struct Relay {
        var machine: RelayMachine
        var clientTakes = true
        var takesLease = true
        /// Whether what admitted the upgrade is over when the answer's head arrives.
        var refusesLate = false

        init(takesAnyBytes: Bool = true, opensTunnelOnSuccess: Bool = false) throws {
            machine = RelayMachine(
                RelayMachine.Terms(
                    request: try RelayMachineTests.request(), accept: RelayMachineTests.accept,
                    takesAnyBytes: takesAnyBytes, opensTunnelOnSuccess: opensTunnelOnSuccess))
        }

        mutating func act() -> [String] {
            var words: [String] = []
            while let action = machine.next(clientTakes: clientTakes) { words.append(word(action)) }
            return words
        }

        private mutating func word(_ action: RelayMachine.Action) -> String {
            switch action {
            case .upstream(.connect(_, let tried, _)): "connect \(tried.count)"
            case .upstream(.send(.sendHead)): "head"
            case .upstream(.send(.flush)): "ask"
            case .upstream(.send): "body"
            case .upstream(.release(let reuse)): reuse ? "reuse" : "release"
            case .upstream(.report(let fault, _)): "report \(fault.reason)"
            case .answered(let status): answered(status)
            case .startAnswer(let head): "start \(head.status)"
            case .sendAnswer(let part): String(buffer: part)
            case .flushAnswer: "flush"
            case .takeLease: lease()
            case .settle: "settle"
            case .open(_, let early): "open '\(String(buffer: early))'"
            case .finishAnswer: "finish"
            case .abortAnswer: "abort"
            case .respond(let problem): "\(problem.status) \(problem.reason ?? "")"
            }
        }

        private mutating func answered(_ status: Int) -> String {
            if refusesLate { machine.admissionEnded(Problem(.invalidToken, reason: "revoked")) }
            return "answered \(status)"
        }

        private mutating func lease() -> String {
            if takesLease { machine.leaseTaken() }
            return "lease"
        }

        /// Acts until the exchange is told that the answer's head has arrived.
        mutating func hears(_ text: String) {
            machine.upstreamReceived(ByteBuffer(string: text))
            machine.upstreamReceivedAll()
            while let action = machine.next(clientTakes: clientTakes) { if case .answered = action { return } }
        }

        /// As far as the request has been sent.
        static func asked(takesAnyBytes: Bool = true, opensTunnelOnSuccess: Bool = false) throws -> Relay {
            var relay = try Relay(takesAnyBytes: takesAnyBytes, opensTunnelOnSuccess: opensTunnelOnSuccess)
            relay.machine.start()
            #expect(relay.act() == ["connect 0"])
            relay.machine.connected(to: 0)
            #expect(relay.act() == ["head", "ask"])
            return relay
        }

        /// One read from the upstream, which is all of a burst unless told otherwise.
        mutating func says(_ text: String, isBurst: Bool = true) -> [String] {
            machine.upstreamReceived(ByteBuffer(string: text))
            var words = act()
            if isBurst {
                machine.upstreamReceivedAll()
                words += act()
            }
            return words
        }

        mutating func closes(isBroken: Bool = false) -> [String] {
            machine.upstreamClosed(UpstreamFault(closedBy: nil), isBroken: isBroken)
            return act()
        }
    }

    // MARK: Every state and every event

    private enum State: CaseIterable {
        case created, connecting, asked, answering, opened, over
        /// The exchange was told that the head of a 404, or of a 101, has arrived.
        case refused, switching
    }
    private enum Event: CaseIterable {
        case start, connect, fail, none, full, bytes, burstEnd, close, gone, ended, leaseTaken, lease, deadline
    }

    private static func relay(in state: State) throws -> Relay {
        var relay = try state == .created || state == .connecting ? Relay() : Relay.asked()
        switch state {
        case .created, .asked: break
        case .connecting:
            relay.machine.start()
            _ = relay.act()
        case .refused: relay.hears(refused + "n")
        case .switching: relay.hears(switching())
        case .answering: _ = relay.says(refused + "n")
        case .opened: _ = relay.says(switching())
        case .over:
            relay.machine.clientGone()
            _ = relay.act()
        }
        return relay
    }

    private static func expected(_ state: State, _ event: Event) -> [String] {
        // What follows where nothing has ended the admission.
        let passed = state == .refused ? ["start 404", "n", "lease", "flush"] : ["open ''"]
        return switch (state, event) {
        case (.refused, .ended), (.switching, .ended), (.refused, .lease), (.switching, .lease):
            ["release", "settle", "401 revoked"]
        case (.refused, .gone), (.switching, .gone): ["release", "settle"]
        case (.refused, .deadline), (.switching, .deadline):
            ["report upstream_answer_timeout", "release", "settle", "504 upstream_answer_timeout"]
        case (.refused, .close): ["release", "start 404", "n", "settle", "abort"]
        case (.switching, .close): ["release", "settle", "502 upstream_closed"]
        case (.refused, .bytes): ["start 404", "n", "H", "release", "settle", "finish"]
        case (.switching, .bytes): ["open '\(refused)no'"]
        case (.refused, .fail), (.switching, .fail): ["report refused"] + passed
        case (.refused, _), (.switching, _): passed
        case (.created, .start): ["connect 0"]
        case (.created, .fail): ["report refused"]
        case (.created, .gone): ["settle"]
        case (_, .burstEnd), (_, .leaseTaken): []
        case (.created, .ended), (.connecting, .ended): ["settle", "401 revoked"]
        case (.asked, .ended), (.answering, .ended): ["release", "settle", "401 revoked"]
        case (.connecting, .full): ["settle", "503 upstream_full"]
        case (.created, .lease): ["settle", "401 revoked"]
        case (.created, _): []
        case (.connecting, .connect): ["head", "ask"]
        case (.connecting, .fail): ["report refused", "connect 1"]
        case (.connecting, .none): ["settle", "502 no_upstream_reachable"]
        case (.connecting, .gone): ["settle"]
        case (.connecting, .lease): ["settle", "401 revoked"]
        case (.connecting, .deadline): ["settle", "504 upstream_connect_timeout"]
        case (.connecting, .start), (.connecting, .bytes), (.connecting, .close): []
        case (.asked, .bytes): ["answered 404", "start 404", "no", "release", "settle", "finish"]
        case (.asked, .close): ["report upstream_closed", "release", "settle", "502 upstream_closed"]
        case (.asked, .gone), (.answering, .gone): ["release", "settle"]
        case (.asked, .lease): ["release", "settle", "401 revoked"]
        case (.answering, .lease): ["release", "settle", "abort"]
        case (.asked, .deadline):
            ["report upstream_answer_timeout", "release", "settle", "504 upstream_answer_timeout"]
        case (.answering, .bytes): ["H", "release", "settle", "finish"]
        case (.answering, .close), (.answering, .deadline): ["release", "settle", "abort"]
        // A failed connection attempt is reported in every state of the exchange.
        case (_, .fail): ["report refused"]
        case (.asked, _), (.answering, _), (.opened, _), (.over, _): []
        }
    }

    @Test("Every event in every state", arguments: State.allCases, Event.allCases)
    private func table(state: State, event: Event) throws {
        var relay = try Self.relay(in: state)
        switch event {
        case .start: relay.machine.start()
        case .connect: relay.machine.connected(to: 1)
        case .fail: relay.machine.failedToConnect(to: 1, Self.fault)
        case .none: relay.machine.noUpstreamLeft()
        case .full: relay.machine.upstreamsAreFull()
        case .burstEnd: relay.machine.upstreamReceivedAll()
        case .ended: relay.machine.admissionEnded(Problem(.invalidToken, reason: "revoked"))
        case .leaseTaken: relay.machine.leaseTaken()
        case .bytes: relay.machine.upstreamReceived(ByteBuffer(string: Self.refused + "no"))
        case .close: relay.machine.upstreamClosed(UpstreamFault(closedBy: nil), isBroken: false)
        case .gone: relay.machine.clientGone()
        case .lease: relay.machine.leaseEnded(Problem(.invalidToken, reason: "revoked"))
        case .deadline:
            let isPatient = relay.machine.deadlinePassed(clientTakes: true)
            #expect(!isPatient)
        }
        #expect(relay.act() == Self.expected(state, event))
    }

    @Test("A deadline is another limit's while the client is slow, or while a stream is silent under its lease")
    func patience() throws {
        for (type, takesLease, clientTakes) in [
            ("text/event-stream", true, true), ("text/event-stream", false, true), ("text/plain", true, true),
            ("text/plain", true, false),
        ] {
            var relay = try Relay.asked()
            relay.takesLease = takesLease
            _ = relay.says("HTTP/1.1 200 X\r\nContent-Type: \(type)\r\n\r\nx")
            let isPatient = relay.machine.deadlinePassed(clientTakes: clientTakes)
            #expect(isPatient == (!clientTakes || (takesLease && type == "text/event-stream")))
        }
    }

    @Test(
        "In any order of events, the connection is given up once, settled once, and the client gets one ending at most")
    func schedules() throws {
        for seed in 0..<Schedules.count {
            var random = SeededGenerator(seed: seed)
            var relay = try Relay()
            relay.refusesLate = Int.random(in: 0..<4, using: &random) == 0
            let answers = [Self.switching(), Self.refused + "no", Self.chunked + "2\r\nno\r\n0\r\n\r\n", "??"]
            var unsent = Array((answers.randomElement(using: &random) ?? "").utf8)[...]
            var words: [String] = []
            var connections = 0
            relay.machine.start()
            for _ in 0..<40 {
                relay.clientTakes = Int.random(in: 0..<4, using: &random) > 0
                switch Int.random(in: 0..<24, using: &random) {
                case 0..<5:
                    guard relay.machine.isConnecting else { break }
                    if Int.random(in: 0..<6, using: &random) == 0 {
                        relay.machine.failedToConnect(to: connections, Self.fault)
                    } else {
                        relay.machine.connected(to: connections)
                        connections += 1
                    }
                case 5..<18:
                    let part = unsent.prefix(Int.random(in: 1...60, using: &random))
                    guard words.contains("ask") else { break }
                    unsent = unsent.dropFirst(part.count)
                    relay.machine.upstreamReceived(ByteBuffer(bytes: part))
                    if Bool.random(using: &random) { relay.machine.upstreamReceivedAll() }
                case 18:
                    relay.machine.upstreamClosed(UpstreamFault(closedBy: nil), isBroken: Bool.random(using: &random))
                case 19: relay.machine.clientGone()
                case 20: relay.machine.leaseEnded(Problem(.invalidToken, reason: "revoked"))
                case 21: _ = relay.machine.deadlinePassed(clientTakes: relay.clientTakes)
                default: relay.machine.upstreamReceivedAll()
                }
                words += relay.act()
            }
            relay.machine.clientGone()
            words += relay.act()
            let opened = words.filter { $0.hasPrefix("open") }.count
            let endings = words.filter { ["finish", "abort", "401 revoked"].contains($0) || $0.hasPrefix("50") }
            let settled = words.filter { $0 == "settle" }.count
            #expect(settled + opened == 1 && opened + endings.count <= 1, "seed \(seed): \(words)")
            #expect(!relay.refusesLate || opened == 0 && !words.contains { $0.hasPrefix("start") }, "seed \(seed)")
            #expect(words.filter { $0 == "release" }.count + opened == connections, "seed \(seed): \(words)")
        }
    }
}
