import Answers
import Foundation
import HTTPWire
import NIOCore
import Testing

@testable import Proxy

@Suite struct ProxyMachineTests {
    /// How many orders of events are tried: `GATEHOUSE_SCHEDULES`, or as many as show each way to end often.
    private static let count =
        ProcessInfo.processInfo.environment["GATEHOUSE_SCHEDULES"].flatMap { Int($0) } ?? 10_000

    @Test("No bytes are lost and all connections accounted for, in any order of events")
    func schedules() {
        var (finished, cut, refused, left) = (0, 0, 0, 0)
        var reused = 0
        let start = ContinuousClock.now
        for seed in 0..<UInt64(Self.count) {
            var simulation = ProxySimulation(seed: seed)
            let faults = simulation.run()
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
            if !faults.isEmpty { return }
            switch simulation.endings.first {
            case "finish"?: finished += 1
            case "abort"?: cut += 1
            case "respond"?: refused += 1
            default: left += 1
            }
            if simulation.links.contains(where: { $0.released == true }) { reused += 1 }
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        print(
            "\(Self.count) schedules in \(seconds.formatted(.number.precision(.fractionLength(1)))) s:",
            "\(finished) finished, \(cut) cut, \(refused) refused, \(left) left; \(reused) connections reused")
        // Each way to end is among them, or the schedules show nothing.
        #expect(min(finished, cut, refused, left, reused) > Self.count / 200)
    }

    // MARK: Every state and every event

    private enum State: CaseIterable {
        case created, connecting, sending, asked, judging, answering, over
        /// The lease has ended, and its client alone was told: an answer was cut, or refused.
        case cut, refused
    }
    private enum Event: CaseIterable {
        case start, connected, failed, noUpstream, full, body, bodyEnd, gone, admissionEnded, judged,
            leaseTaken, leaseEnded, cannotCut, settle, answer, burstEnd, closed, deadline
    }

    private static let whole = "HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok"
    private static let fault = UpstreamFault(reason: "refused", cause: "")

    private static func word(_ action: ProxyMachine.Action) -> String {
        switch action {
        case .upstream(.connect): "connect"
        case .upstream(.send(.sendHead)): "head"
        case .upstream(.send(.sendBody(let part))): String(buffer: part)
        case .upstream(.send(.sendEnd)): "end"
        case .upstream(.send(.flush)): "ask"
        case .upstream(.release(let reuse)): reuse ? "reuse" : "release"
        case .upstream(.report(let fault, _)): "report \(fault.reason)"
        case .pauseBody: "pause"
        case .resumeBody: "resume"
        case .sendInterim: "interim"
        case .answered(let status): "answered \(status)"
        case .judgeAnswer(let head): "judge \(head.status)"
        case .startAnswer(let head, let keepsLength): "start \(head.status)\(keepsLength ? " length" : "")"
        case .sendAnswer(let part): String(buffer: part)
        case .flushAnswer: "flush"
        case .takeLease: "lease"
        case .settle: "settle"
        case .finishAnswer: "finish"
        case .abortAnswer: "abort"
        case .cutAnswer: "cut"
        case .respond(let problem): "\(problem.status) \(problem.reason ?? "")"
        }
    }

    private static func act(_ machine: inout ProxyMachine) -> [String] {
        var words: [String] = []
        while let action = machine.next(clientTakes: true, upstreamTakes: true) { words.append(word(action)) }
        return words
    }

    /// A `POST` in chunks, as far as the state says.
    private static func machine(in state: State) -> ProxyMachine {
        var machine = ProxyMachine(
            ProxyMachine.Terms(
                framing: .chunked, method: .post, maxBody: 8, isLeased: false, isJudged: state == .judging))
        if state == .created { return machine }
        machine.start()
        _ = act(&machine)
        if state == .connecting { return machine }
        machine.connected(to: 0, isPooled: false)
        machine.received(body: ByteBuffer(string: "body"))
        if state != .sending { machine.receivedEnd() }
        if [.judging, .answering, .cut].contains(state) {
            machine.upstreamReceived(ByteBuffer(string: "HTTP/1.1 200 X\r\nContent-Length: 3\r\n\r\nn"))
            machine.upstreamReceivedAll()
        }
        if state == .over { machine.clientGone() }
        _ = act(&machine)
        if state == .cut || state == .refused { machine.leaseEnded(Problem(.invalidToken, reason: "revoked")) }
        _ = act(&machine)
        return machine
    }

    @Test("An answer is held until it is judged, refused if it may not pass, and not held for ever")
    func judged() {
        func asked() -> ProxyMachine {
            var machine = ProxyMachine(
                ProxyMachine.Terms(framing: .none, method: .get, maxBody: nil, isLeased: false, isJudged: true))
            machine.start()
            _ = Self.act(&machine)
            machine.connected(to: 0, isPooled: false)
            machine.receivedEnd()
            _ = Self.act(&machine)
            machine.upstreamReceived(ByteBuffer(string: Self.whole))
            machine.upstreamReceivedAll()
            return machine
        }
        var passes = asked()
        #expect(Self.act(&passes) == ["answered 200", "judge 200"])
        #expect(!passes.wantsUpstreamBytes(clientTakes: true))
        passes.answerJudged(nil)
        #expect(Self.act(&passes) == ["start 200", "ok", "reuse", "settle", "finish"])
        var refused = asked()
        _ = Self.act(&refused)
        refused.answerJudged(Problem(.upstreamUnavailable, reason: "foreign"))
        #expect(Self.act(&refused) == ["release", "settle", "502 foreign"])
        var late = asked()
        _ = Self.act(&late)
        let isPatient = late.deadlinePassed(clientTakes: true, upstreamTakes: true)
        #expect(!isPatient)
        #expect(Self.act(&late) == ["release", "settle", "503 answer_not_judged"])
        late.answerJudged(nil)
        #expect(Self.act(&late).isEmpty)
    }

    /// A request that has been sent, and its answer, which has arrived.
    private static func answered(
        _ answer: String, method: RequestMethod = .get, isLeased: Bool = false, takesAnyBytes: Bool = true
    ) -> ProxyMachine {
        var machine = ProxyMachine(
            ProxyMachine.Terms(
                framing: .none, method: method, maxBody: nil, isLeased: isLeased, takesAnyBytes: takesAnyBytes))
        machine.start()
        _ = act(&machine)
        machine.connected(to: 0, isPooled: false)
        machine.receivedEnd()
        _ = act(&machine)
        machine.upstreamReceived(ByteBuffer(string: answer))
        machine.upstreamReceivedAll()
        return machine
    }

    @Test("What admitted the request may have ended when the head arrives, and no part of the answer is passed on then")
    func endedBeforeAnswer() {
        var machine = Self.answered(Self.whole)
        let first = machine.next(clientTakes: true, upstreamTakes: true).map(Self.word)
        machine.admissionEnded(Problem(.invalidToken, reason: "revoked"))
        #expect(first == "answered 200")
        #expect(Self.act(&machine) == ["release", "settle", "401 revoked"])
    }

    @Test("A stream's lease is asked for and looked at before its head is passed on")
    func leasedFirst() {
        let stream = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        for (answer, isLeased) in [(stream, false), (Self.whole, true)] {
            var machine = Self.answered(answer, isLeased: isLeased)
            #expect(Self.act(&machine) == ["answered 200", "lease", "judge 200"])
            machine.answerJudged(nil)
            #expect(Self.act(&machine).first == "start 200")
        }
    }

    @Test("A head that is no text is not passed on over HTTP/2, and is over HTTP/1.1")
    func text() {
        let answer = "HTTP/1.1 200 X\r\nContent-Length: 2\r\nA: \u{e9}\r\n\r\nok"
        let latin1 = answer.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        for takesAnyBytes in [true, false] {
            var machine = Self.answered("", takesAnyBytes: takesAnyBytes)
            machine.upstreamReceived(ByteBuffer(bytes: latin1))
            machine.upstreamReceivedAll()
            let told = Self.act(&machine)
            #expect(told.first == "answered 200")
            #expect(told.contains("start 200") == takesAnyBytes)
            #expect(told.last == (takesAnyBytes ? "finish" : "502 upstream_answer_not_utf8"))
        }
    }

    @Test("The length of a body that is not there is kept for HEAD and 304 alone")
    func keptLength() {
        let cases: [(String, RequestMethod, String)] = [
            ("200 X", .head, "start 200 length"), ("304 X", .get, "start 304 length"), ("204 X", .head, "start 204"),
            ("200 X", .get, "start 200"),
        ]
        for (status, method, wanted) in cases {
            var machine = Self.answered("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\n", method: method)
            #expect(Self.act(&machine).contains(wanted))
        }
    }

    private static func expected(_ state: State, _ event: Event) -> [String] {
        let isOpen = [.sending, .asked, .judging, .answering].contains(state)
        let gives = isOpen ? ["release"] : []
        switch (state, event) {
        case (.created, .start): return ["connect"]
        case (.connecting, .connected): return ["head", "ask"]
        case (.connecting, .failed): return ["report refused", "connect"]
        case (_, .failed): return ["report refused"]
        case (.connecting, .noUpstream): return ["settle", "502 no_upstream_reachable"]
        case (.connecting, .full): return ["settle", "503 upstream_full"]
        case (.cut, .settle): return ["release", "abort"]
        case (.cut, .cannotCut): return ["abort"]
        case (.refused, .settle): return ["release"]
        case (.over, _), (.cut, _), (.refused, _), (_, .settle), (_, .cannotCut): return []
        case (_, .start), (_, .connected), (_, .noUpstream), (_, .full): return []
        case (.judging, .judged): return ["start 200", "n", "lease", "flush"]
        case (_, .judged), (_, .leaseTaken), (_, .burstEnd): return []
        case (.sending, .body): return ["more", "ask"]
        case (.sending, .bodyEnd): return ["end", "ask"]
        case (_, .body), (_, .bodyEnd): return []
        case (_, .gone): return gives + ["settle"]
        // The upstream's connection is given back when the clients of all leases were told.
        case (.answering, .leaseEnded): return ["settle", "cut"]
        case (_, .leaseEnded): return ["settle", "401 revoked"]
        case (_, .admissionEnded): return gives + ["settle", "401 revoked"]
        case (.sending, .answer): return ["answered 200", "start 200", "ok", "release", "settle", "finish"]
        case (.asked, .answer): return ["answered 200", "start 200", "ok", "reuse", "settle", "finish"]
        case (.answering, .answer): return ["HT", "release", "settle", "finish"]
        case (.created, .answer), (.connecting, .answer), (.judging, .answer): return []
        case (.sending, .closed), (.asked, .closed):
            return ["report upstream_closed", "release", "settle", "502 upstream_closed"]
        case (.answering, .closed), (.answering, .deadline): return ["release", "settle", "abort"]
        case (.judging, .closed): return ["release"]
        case (.judging, .deadline): return ["release", "settle", "503 answer_not_judged"]
        case (.created, .closed), (.connecting, .closed): return []
        case (.connecting, .deadline): return ["settle", "504 upstream_connect_timeout"]
        case (.asked, .deadline):
            return ["report upstream_answer_timeout", "release", "settle", "504 upstream_answer_timeout"]
        // A client that is slow with its body has a time limit of its own.
        case (.created, .deadline), (.sending, .deadline): return []
        }
    }

    @Test("Every event in every state", arguments: State.allCases, Event.allCases)
    private func table(state: State, event: Event) {
        var machine = Self.machine(in: state)
        var isPatient = false
        switch event {
        case .start: machine.start()
        case .connected: machine.connected(to: 1, isPooled: false)
        case .failed: machine.failedToConnect(to: 1, Self.fault)
        case .noUpstream: machine.noUpstreamLeft()
        case .full: machine.upstreamsAreFull()
        case .body: machine.received(body: ByteBuffer(string: "more"))
        case .bodyEnd: machine.receivedEnd()
        case .gone: machine.clientGone()
        case .admissionEnded: machine.admissionEnded(Problem(.invalidToken, reason: "revoked"))
        case .judged: machine.answerJudged(nil)
        case .leaseTaken: machine.leaseTaken()
        case .leaseEnded: machine.leaseEnded(Problem(.invalidToken, reason: "revoked"))
        case .cannotCut: machine.cannotCut()
        case .settle: machine.settle()
        case .burstEnd: machine.upstreamReceivedAll()
        case .answer: machine.upstreamReceived(ByteBuffer(string: Self.whole))
        case .closed: machine.upstreamClosed(UpstreamFault(closedBy: nil), isBroken: false)
        case .deadline: isPatient = machine.deadlinePassed(clientTakes: true, upstreamTakes: true)
        }
        #expect(Self.act(&machine) == Self.expected(state, event))
        #expect(isPatient == (event == .deadline && state == .sending))
    }

    @Test("A cut that is settled before it was carried out closes the client's connection instead")
    func settledEarly() {
        var machine = Self.machine(in: .answering)
        machine.leaseEnded(Problem(.invalidToken, reason: "revoked"))
        machine.settle()
        #expect(Self.act(&machine) == ["release", "settle", "abort"])
    }

    @Test("A body that is longer than it may be is refused, in every state of its connection")
    func maxBody() {
        for state in [State.connecting, .sending] {
            var machine = Self.machine(in: state)
            machine.received(body: ByteBuffer(string: "too long!"))
            #expect(Self.act(&machine).suffix(2) == ["settle", "413 body_too_large"])
        }
    }
}
