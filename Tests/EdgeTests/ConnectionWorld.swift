import Answers
import EdgeCore
import HTTPWire
import NIOCore
import RandomForTests

@testable import Edge

/// A client that sends several requests at once, and what answers them, around one ``ConnectionMachine``, in an order
/// that a seed decides.
///
/// It carries out the machine's actions as ``EdgeConnection`` does, calls back in the middle of an action as real
/// exchanges do, and records what was sent.
struct ConnectionWorld {
    private struct Sent {
        var target: String
        var body: [UInt8]
    }

    /// What answers one request.
    private struct Served {
        var target: String
        var body: [UInt8] = []
        var hasEnd = false
        var isDropped = false
        var answers = 0
        var isDone = false
    }

    private var random: SeededGenerator
    private var machine = ConnectionMachine(limits: WireLimits(), isStream: false)
    private var sent: [Sent] = []
    private var unsent: ArraySlice<UInt8> = []
    private var served: [Served] = []
    private var isInAction = false
    private var isPaused = false
    private var isClosed = false
    private var hasFinishedOutput = false
    private let leavesEarly: Bool
    private var isDraining = false
    private var faults: [String] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        leavesEarly = Int.random(in: 0..<4, using: &random) == 0
        var wire: [UInt8] = []
        for number in 0..<Int.random(in: 1...6, using: &random) {
            // A body that would be a request, if it were taken for one.
            let text = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
            let body = Array(text.utf8.prefix(Int.random(in: 0...text.utf8.count, using: &random)))
            let target = "/\(number)"
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                wire += Array("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
                sent.append(Sent(target: target, body: []))
            case 1:
                wire += Array("POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
                sent.append(Sent(target: target, body: body))
            default:
                wire += Array("POST \(target) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
                if !body.isEmpty {
                    wire += Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n".utf8)
                }
                wire += Array("0\r\n\r\n".utf8)
                sent.append(Sent(target: target, body: body))
            }
        }
        unsent = wire[...]
        self.random = random
    }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    private mutating func fault(_ text: String) { faults.append(text) }

    // MARK: Obeying the machine

    private mutating func act() {
        guard !isInAction else { return }
        isInAction = true
        var count = 0
        while let action = machine.next() {
            count += 1
            if count > 1_000 { return fault("actions without end") }
            if isClosed { fault("\(action) behind the close") }
            perform(action)
        }
        isInAction = false
    }

    private mutating func perform(_ action: ConnectionMachine.Action) {
        switch action {
        case .dispatch(let head):
            if let last = served.last, !last.isDone, !last.isDropped { fault("two requests at once") }
            served.append(Served(target: head.string(head.target)))
            isPaused = false
            if chance(3) { answer() }
            if chance(4) {
                isPaused = true
                machine.pauseBody()
            }
            let hasExchange = !(served.last?.isDone ?? true)
            if machine.dispatched(hasExchange: hasExchange) != hasExchange, hasExchange { fault("not dispatched") }
        case .giveBody(let part):
            change { served in
                if served.isDone || served.hasEnd { return "a body that nothing takes" }
                served.body += Array(part.readableBytesView)
                return nil
            }
            if isPaused { fault("a body that was to wait") }
            if chance(6) { answer() }
        case .giveEnd:
            change { served in
                defer { served.hasEnd = true }
                return served.hasEnd ? "two ends" : nil
            }
        case .dropExchange:
            change { served in
                served.isDropped = true
                return nil
            }
        case .refuse(let problem):
            // A deadline may pass in the middle of a head; nothing that is sent here is malformed.
            if problem.status != 408 || !leavesEarly { fault("refused: \(problem.status)") }
            respond()
        case .respond: respond()
        case .arm, .closeOutput: break
        case .finishOutput:
            if hasFinishedOutput { fault("finished twice") }
            hasFinishedOutput = true
        case .close: isClosed = true
        }
    }

    private mutating func change(_ change: (inout Served) -> String?) {
        guard !served.isEmpty else { return fault("no request") }
        if let problem = change(&served[served.count - 1]) { fault(problem) }
    }

    /// The gateway's own answer to what can't be read.
    private mutating func respond() {
        guard machine.startAnswer(.none)?.closes == true, machine.finishAnswer() else {
            return fault("no answer that closes")
        }
    }

    /// Answers the request at hand, whole.
    private mutating func answer() {
        guard let last = served.last, !last.isDone, !last.isDropped else { return }
        guard machine.startAnswer(chance(2) ? .stream : .length(0)) != nil else { return }
        if machine.startAnswer(.none) != nil { fault("two answers") }
        served[served.count - 1].answers += 1
        served[served.count - 1].isDone = true
        isPaused = false
        if !machine.finishAnswer() || machine.finishAnswer() { fault("an answer has one end") }
        act()
    }

    // MARK: What happens

    private mutating func send() {
        guard !unsent.isEmpty, machine.wantsBytes else { return }
        let count = chance(3) ? unsent.count : Int.random(in: 1...min(40, unsent.count), using: &random)
        machine.received(ByteBuffer(bytes: unsent.prefix(count)))
        unsent = unsent.dropFirst(count)
    }

    private mutating func resume() {
        guard isPaused else { return }
        isPaused = false
        machine.resumeBody()
    }

    private mutating func step() {
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<5: send()
        case 5..<8: answer()
        case 8: resume()
        case 9:
            if let last = served.last, !last.isDone, !isPaused {
                isPaused = true
                machine.pauseBody()
            }
        case 10: machine.deadlinePassed(clientTakes: !leavesEarly || !chance(3))
        case 11:
            if leavesEarly, chance(4) { machine.inputClosed() }
        case 12:
            if leavesEarly, chance(8) {
                isDraining = true
                machine.drain()
            }
        default: if leavesEarly, chance(10) { machine.abortAnswer() }
        }
        act()
    }

    /// Runs to the end. Returns what went wrong.
    mutating func run() -> [String] {
        // A deadline ends what has come in part only; a client that sends everything meets none.
        let isPatient = !leavesEarly
        for _ in 0..<Int.random(in: 0...60, using: &random) where !isClosed {
            if isPatient, chance(2) { send() } else if !isPatient { step() } else { answer() }
            act()
        }
        for _ in 0..<500 where !isClosed && !hasFinishedOutput && isPatient {
            send()
            resume()
            answer()
            act()
        }
        judge(isPatient)
        return faults
    }

    private mutating func judge(_ isPatient: Bool) {
        if served.count > sent.count { fault("more requests than were sent") }
        for (served, sent) in zip(served, sent) {
            if served.target != sent.target { fault("\(served.target) in place of \(sent.target)") }
            if !sent.body.starts(with: served.body) { fault("another body than was sent") }
            if served.hasEnd, served.body != sent.body { fault("a part of a body was passed off as whole") }
            if served.answers > 1 { fault("answered twice") }
        }
        if isPatient {
            if served.count != sent.count || served.contains(where: { !$0.isDone }) { fault("not all were answered") }
            if isClosed || hasFinishedOutput { fault("closed without need") }
        }
        if machine.inbound.readableBytes > ConnectionMachine.maxPipelined + 4096 { fault("too much is kept") }
    }
}
