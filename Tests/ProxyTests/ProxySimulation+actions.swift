import Answers
import HTTPWire
import NIOCore
import RandomForTests

@testable import Proxy

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
            switch action {
            case .upstream(.report): break
            // Clients are told of their leases' ends before connections are closed.
            case .upstream(.release) where isLeaseOver: break
            default: fault("\(action) after \(endings)")
            }
        }
        switch action {
        case .upstream(let action): perform(action)
        case .pauseBody: isPaused = true
        case .resumeBody:
            isPaused = false
            // A connection hands over what it has at once, in the middle of this action.
            while !isPaused, !unsent.isEmpty || !hasSentEnd, chance(2) { sendSome() }
        case .sendInterim: if answerStarted != nil { fault("an interim answer within the answer") }
        case .answered: if answerStarted != nil { fault("answered within the answer") }
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
        case .cutAnswer: if chance(2) { machine.cannotCut() }
        case .respond(let answer):
            endings.append("respond")
            problem = answer.code.rawValue
        }
    }

    private mutating func perform(_ action: UpstreamAttempt.Action) {
        switch action {
        case .connect(let reuse, let tried, let isRetry):
            if isRetry == hasConnected { hasConnected = true } else { fault("a first try that is called another") }
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
