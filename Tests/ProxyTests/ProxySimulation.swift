import Answers
import HTTPWire
import NIOCore
import RandomForTests

@testable import Proxy

/// A client, upstreams and a clock around one ``ProxyMachine``, in an order that a seed decides.
///
/// The simulation obeys the machine as ``ProxyExchange`` does, and keeps the books: what the client sent and got, what each
/// connection carried. It calls back in the middle of an action, as real connections do.
struct ProxySimulation {
    enum ClientEnd { case whole, gone }

    /// What the upstream says on one connection.
    struct Script {
        var bytes: [UInt8]
        /// The body that is in them, and whether they hold a whole answer.
        var body: [UInt8]
        var isWhole: Bool
        var status: Int
        var endsByClose: Bool
        /// Whether others may see another end of this answer.
        var isContradictory: Bool
        var closes: Bool
        var isBroken: Bool
    }

    struct Link {
        var script: Script
        var isPooled: Bool
        var heads = 0
        var body: [UInt8] = []
        var hasEnd = false
        var sent = 0
        var isClosed = false
        var released: Bool?
        var hasFlushed = false
    }

    var random: SeededGenerator
    var machine: ProxyMachine
    let framing: BodyFraming
    let method: RequestMethod
    let body: [UInt8]
    var unsent: ArraySlice<UInt8>
    var hasSentEnd: Bool
    let clientEnd: ClientEnd
    let leavesEarly: Bool

    var links: [Link] = []
    /// How many upstreams there are, and how many of them could not be reached.
    let members: Int
    var failed = 0
    var isConnectDue = false
    var mayPool = true
    var isPaused = false
    var clientTakes = true
    var upstreamTakes = true
    var isInAction = false

    // What the client saw.
    var answerStarted: Link?
    var answerBody: [UInt8] = []
    var endings: [String] = []
    var settled = 0
    var problem: String?
    var faults: [String] = []
    var pausedWhileDelivering = 0

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let methods: [RequestMethod] = [.get, .post, .put, .head, .delete, .patch, .options]
        method = methods.randomElement(using: &random) ?? .get
        let size = [0, 1, 7, 40, 300].randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: framing = .none
        case 1: framing = .length(Int64(size))
        default: framing = .chunked
        }
        body = framing == .none ? [] : (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(seed)) }
        unsent = body[...]
        hasSentEnd = framing == .none
        members = Int.random(in: 1...2, using: &random)
        leavesEarly = Int.random(in: 0..<8, using: &random) == 0
        clientEnd = leavesEarly ? .gone : .whole
        machine = ProxyMachine(
            ProxyMachine.Terms(
                framing: framing, method: method,
                maxBody: Int.random(in: 0..<20, using: &random) == 0 ? 20 : nil,
                isLeased: Bool.random(using: &random), isJudged: Bool.random(using: &random)))
        self.random = random
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func fault(_ text: String) { faults.append(text) }
}

// MARK: - What the upstream says

extension ProxySimulation {
    mutating func script() -> Script {
        let status = chance(5) ? [204, 304].randomElement(using: &random) ?? 204 : 200
        let size = [0, 3, 50, 200].randomElement(using: &random) ?? 0
        var body = (0..<size).map { UInt8(truncatingIfNeeded: 255 &- $0) }
        var head = chance(6) ? "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" : ""
        head += "HTTP/1.1 \(status) X\r\n"
        if chance(5) { head += "Content-Type: text/event-stream\r\n" }
        let hasNoBody = method == .head || status != 200
        var wire: [UInt8] = []
        var endsByClose = false
        var isContradictory = false
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            head += "Content-Length: \(size)\r\n"
            isContradictory = hasNoBody && size > 0
            wire = body
        case 1 where status != 204:
            head += "Transfer-Encoding: chunked\r\n"
            isContradictory = hasNoBody
            var rest = body[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...60, using: &random))
                rest = rest.dropFirst(part.count)
                wire += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
            }
            wire += Array("0\r\n\r\n".utf8)
        default:
            endsByClose = !hasNoBody
            wire = body
            if hasNoBody { wire = [] }
        }
        if hasNoBody {
            wire = []
            body = []
        }
        if chance(10) { head += "Connection: close\r\n" }
        var bytes = Array((head + "\r\n").utf8) + wire
        var isWhole = true
        if chance(8) {
            // Cut short, or broken.
            isWhole = false
            if chance(2) {
                bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            } else {
                bytes = Array("??".utf8)
            }
        }
        let closes = endsByClose || !isWhole || chance(6)
        return Script(
            bytes: bytes, body: body, isWhole: isWhole, status: status, endsByClose: endsByClose,
            isContradictory: isContradictory, closes: closes, isBroken: closes && chance(3))
    }
}

// MARK: - Obeying the machine

extension ProxySimulation {
    mutating func act() {
        guard !isInAction else { return }
        isInAction = true
        var count = 0
        while let action = machine.next(clientTakes: clientTakes, upstreamTakes: upstreamTakes) {
            count += 1
            if count > 5_000 { return fault("actions without end") }
            perform(action)
        }
        isInAction = false
    }

    var current: Int? { links.indices.last { links[$0].released == nil } }

    private mutating func perform(_ action: ProxyMachine.Action) {
        if !endings.isEmpty {
            if case .upstream(.report) = action {} else { fault("\(action) after \(endings)") }
        }
        switch action {
        case .upstream(let action): perform(action)
        case .pauseBody: isPaused = true
        case .resumeBody:
            isPaused = false
            // A connection hands over what it has at once, in the middle of this action.
            while !isPaused, !unsent.isEmpty || !hasSentEnd, chance(2) { sendSome() }
        case .sendInterim: if answerStarted != nil { fault("an interim answer within the answer") }
        case .judgeAnswer: machine.answerJudged(nil)
        case .startAnswer:
            if answerStarted != nil { fault("two answers") }
            guard let current else { break }
            answerStarted = links[current]
        case .sendAnswer(let part):
            if answerStarted == nil { fault("a body without a head") }
            answerBody += Array(part.readableBytesView)
            if chance(4) { clientTakes = false }
        case .flushAnswer: break
        case .takeLease: if chance(2) { machine.leaseTaken() }
        case .settle: settled += 1
        case .finishAnswer: endings.append("finish")
        case .abortAnswer: endings.append("abort")
        case .respond(let answer):
            endings.append("respond")
            problem = answer.code.rawValue
        }
    }

    private mutating func perform(_ action: UpstreamAttempt.Action) {
        switch action {
        case .connect(let reuse, let tried):
            if current != nil { fault("two connections at once") }
            if tried.count > members { fault("\(tried.count) tried of \(members)") }
            if tried.count == members { return machine.noUpstreamLeft() }
            mayPool = reuse != .none
            isConnectDue = true
            if chance(2) { connect() }
        case .send(.sendHead): change { $0.heads += 1 }
        case .send(.sendBody(let part)):
            check { link in
                if link.heads != 1 || link.hasEnd { return "a body before its head or after its end" }
                link.body += Array(part.readableBytesView)
                return nil
            }
            if chance(6) { upstreamTakes.toggle() }
        case .send(.sendEnd):
            check { link in
                defer { link.hasEnd = true }
                return link.hasEnd ? "two ends" : nil
            }
        case .send(.flush): change { $0.hasFlushed = true }
        case .release(let reuse): release(reuse)
        case .report: break
        }
    }

    private mutating func change(_ change: (inout Link) -> Void) {
        check { link in
            change(&link)
            return nil
        }
    }

    private mutating func check(_ change: (inout Link) -> String?) {
        guard let current else { return fault("no connection") }
        if let problem = change(&links[current]) { fault(problem) }
    }

    private mutating func release(_ reuse: Bool) {
        guard let current else { return fault("a connection released twice") }
        links[current].released = reuse
        guard reuse else { return }
        let link = links[current]
        if link.body != body { fault("reused short of its body") }
        if framing == .chunked, !link.hasEnd { fault("reused short of its last chunk") }
        if link.sent != link.script.bytes.count || !link.script.isWhole { fault("reused within an answer") }
        if link.isClosed || link.script.endsByClose { fault("reused though closed") }
        if link.script.isContradictory { fault("reused though its end is doubtful") }
        switch method {
        case .get, .head, .delete, .options: if !body.isEmpty { fault("reused after a body with \(method)") }
        default: break
        }
    }
}

// MARK: - What happens

extension ProxySimulation {
    mutating func connect() {
        guard isConnectDue else { return }
        isConnectDue = false
        if chance(12) {
            failed += 1
            return machine.failedToConnect(to: failed, UpstreamFault(reason: "refused", cause: ""))
        }
        guard machine.isConnecting else { return }
        links.append(Link(script: script(), isPooled: mayPool && chance(2)))
        machine.connected(to: 0, isPooled: links.last?.isPooled ?? false)
    }

    mutating func sendSome() {
        if unsent.isEmpty {
            guard !hasSentEnd else { return }
            hasSentEnd = true
            machine.receivedEnd()
        } else {
            let part = unsent.prefix(Int.random(in: 1...max(1, unsent.count), using: &random))
            unsent = unsent.dropFirst(part.count)
            machine.received(body: ByteBuffer(bytes: part))
        }
    }

    /// The upstream says some more, or closes.
    mutating func upstreamSpeaks() {
        guard let current, links[current].hasFlushed, !links[current].isClosed else { return }
        let script = links[current].script
        let rest = script.bytes.count - links[current].sent
        if rest > 0, machine.wantsUpstreamBytes(clientTakes: clientTakes) {
            let count = chance(3) ? rest : Int.random(in: 1...rest, using: &random)
            let from = links[current].sent
            links[current].sent += count
            machine.upstreamReceived(ByteBuffer(bytes: script.bytes[from..<from + count]))
            if chance(2) { act() }
            machine.upstreamReceivedAll()
        } else if rest == 0, script.closes {
            close(current)
        }
    }

    mutating func close(_ index: Int) {
        links[index].isClosed = true
        machine.upstreamClosed(UpstreamFault(closedBy: nil), isBroken: links[index].script.isBroken)
    }

    /// One event of the many that may come next.
    mutating func step() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5: if !isPaused { sendSome() }
        case 5..<8: connect()
        case 8..<14: upstreamSpeaks()
        case 14: clientTakes.toggle()
        case 15: upstreamTakes.toggle()
        case 16: if leavesEarly, chance(3) { machine.clientGone() }
        case 17:
            // A pooled connection that was closed meanwhile, or one that breaks.
            if let current, !links[current].isClosed, chance(links[current].isPooled ? 2 : 12) { close(current) }
        case 18: if chance(25) { _ = machine.deadlinePassed(clientTakes: clientTakes, upstreamTakes: upstreamTakes) }
        default: if chance(30) { machine.leaseEnded(Problem(.invalidToken, reason: "revoked")) }
        }
        act()
    }

    /// Runs to the end. Returns what went wrong.
    mutating func run() -> [String] {
        machine.start()
        act()
        for _ in 0..<Int.random(in: 5...120, using: &random) where endings.isEmpty { step() }
        // From here on client and upstream do their part.
        for _ in 0..<4_000 where endings.isEmpty {
            clientTakes = true
            upstreamTakes = true
            if leavesEarly { machine.clientGone() }
            if !isPaused { sendSome() }
            connect()
            upstreamSpeaks()
            act()
            if leavesEarly { break }
        }
        judge()
        return faults
    }

    private mutating func judge() {
        if endings.isEmpty, !leavesEarly { fault("no end") }
        if settled != 1 { fault("settled \(settled) times") }
        for link in links where link.released == nil { fault("a connection was kept (\(link.heads))") }
        for link in links {
            if link.heads > 1 { fault("two heads on one connection") }
            if !body.starts(with: link.body) { fault("the upstream got other bytes than the client sent") }
        }
        guard let answerStarted else {
            if endings == ["finish"] { fault("finished without an answer") }
            return
        }
        if !answerStarted.script.body.starts(with: answerBody) { fault("the client got other bytes than were sent") }
        if endings == ["finish"], answerBody != answerStarted.script.body {
            // A body that ends with its connection is as long as it was when that closed in order.
            let last = links.last
            let isShort = last.map { $0.script.endsByClose && !$0.script.isBroken } ?? false
            if !isShort { fault("a part of an answer was passed off as whole") }
        }
    }
}
