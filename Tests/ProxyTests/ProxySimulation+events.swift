import Answers
import HTTPWire
import NIOCore
import RandomForTests

@testable import Proxy

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
        default:
            guard chance(30) else { break }
            isLeaseOver = true
            machine.leaseEnded(Problem(.invalidToken, reason: "revoked"))
            if chance(4) { break }
            act()
        }
        if isLeaseOver { machine.settle() }
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
