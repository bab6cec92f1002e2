import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// The reading side of a connection: heads, bodies, and what they begin.
extension EdgeConnection {
    /// Whether more bytes are of use now: a request whose answer is under way may be followed by a bounded amount.
    package var wantsBytes: Bool {
        switch phase {
        case .head, .lingering: true
        case .body: !isBodyPaused
        case .answering: inbound.readableBytes < 16 * 1024
        case .tunnel: tunnel?.wantsBytes ?? false
        case .closed: true
        }
    }

    /// Asks for what `read` held back, if it is wanted by now.
    func resumeReading() {
        if isReadPending, wantsBytes, let context {
            isReadPending = false
            context.read()
        }
    }

    package func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer {
            isProcessing = false
            resumeReading()
        }
        while step() {}
    }

    /// One step of the parse; false when there is nothing to do until something arrives.
    package func step() -> Bool {
        switch phase {
        case .head: return readHead()
        case .body: return readBody()
        case .answering:
            guard isAnswerDone else { return false }
            return nextRequest()
        case .tunnel, .lingering, .closed:
            return false
        }
    }

    func readHead() -> Bool {
        if isDraining {
            closeNow()
            return false
        }
        guard inbound.readableBytes > 0 else {
            if isInputClosed { closeGracefully() }
            return false
        }
        switch scanner.feed(&inbound) {
        case .needMoreData:
            deadline.armIfEarlier(after: services.headerTimeout)
            // The answers to the requests before it may still be on their way out.
            if isInputClosed { closeGracefully() }
            return false
        case .failed(let error):
            refuseHead(Problem(wire: error))
            return false
        case .head(let head):
            begin(head)
            return true
        }
    }

    /// Answers a head that never became a request; nothing of the request before it may be left over.
    func refuseHead(_ problem: Problem) {
        requestID = loop.nextRequestID()
        isHeadRequest = false
        isVersion10 = false
        isAwaitingContinue = false
        isAnswerStarted = false
        isAnswerDone = false
        answerFields = nil
        keepsAlive = false
        phase = .answering
        respond(problem)
    }

    func begin(_ head: RequestHead) {
        deadline.arm(after: services.idleTimeout)
        requestID = loop.nextRequestID()
        isHeadRequest = head.knownMethod == .head
        isVersion10 = head.versionMinor == 0
        // A stream carries one request; its end is the end of the answer.
        keepsAlive = head.keepAlive && !origin.isStream
        isAwaitingContinue = head.expectContinue
        isAnswerStarted = false
        isAnswerDone = false
        isBodyPaused = false
        answerFields = nil
        decoder = BodyDecoder(head.framing)
        phase = .body
        discardBudget = 256 * 1024
        let exchange = Dispatcher(connection: self).exchange(for: head)
        guard phase == .body, !isAnswerDone else {
            exchange?.clientGone()
            return
        }
        self.exchange = exchange
        if isAwaitingContinue, exchange?.wantsContinueFromGateway == true { sendContinue() }
        exchange?.start()
    }

    func readBody() -> Bool {
        if isBodyPaused && exchange != nil { return false }
        if isAnswerDone && isAwaitingContinue {
            // The client may or may not send the body it announced: only a new connection is safe.
            closeGracefully()
            return false
        }
        switch decoder.next(&inbound, maxSlice: 64 * 1024) {
        case .data(let part):
            isAwaitingContinue = false
            deadline.arm(after: services.idleTimeout)
            if let exchange {
                exchange.received(body: part)
            } else {
                discardBudget -= part.readableBytes
                if discardBudget < 0 {
                    closeGracefully()
                    return false
                }
            }
            return phase == .body || phase == .answering
        case .needMoreData:
            if isInputClosed { bodyFailed(Problem(.badMessage, detail: "The body ended early.")) }
            return false
        case .end:
            phase = .answering
            exchange?.receivedEnd()
            return true
        case .failed(let error):
            bodyFailed(Problem(wire: error))
            return false
        }
    }

    func bodyFailed(_ problem: Problem) {
        keepsAlive = false
        phase = .answering
        let exchange = self.exchange
        self.exchange = nil
        exchange?.clientGone()
        if isAnswerDone {
            closeGracefully()
        } else if isAnswerStarted {
            closeNow()
        } else {
            respond(problem)
        }
    }

    /// Whether nothing can follow the request being answered: the client has ended its side behind it.
    var hasLastRequest: Bool { isInputClosed && phase == .answering && inbound.readableBytes == 0 }

    func nextRequest() -> Bool {
        exchange = nil
        guard keepsAlive, !isDraining, !hasLastRequest else {
            closeGracefully()
            return false
        }
        phase = .head
        // What is read next goes into a buffer of its own: this one's storage belongs to the request that is over.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
        deadline.arm(after: inbound.readableBytes > 0 ? services.headerTimeout : services.idleTimeout)
        return true
    }
}
