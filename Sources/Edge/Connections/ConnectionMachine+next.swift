import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// What is due after the events, one action at a time.
extension ConnectionMachine {
    /// The one action that is due; nil until something happens. To be called until it gives nil, after every event.
    /// Closing comes before everything else, then time limits, then what the state asks for.
    mutating func next() -> Action? {
        if let action = takeDue() { return action }
        switch state {
        case .head(let isTimed): return nextOfHead(isTimed: isTimed)
        case .request(var request):
            let step = step(&request)
            state = .request(request)
            switch step {
            // A part of the body that was dropped may have set the time limit again.
            case .wait: return takeDue()
            case .act(let action): return action
            case .linger: return linger(isInputComplete: request.isBodyComplete)
            case .close:
                close()
                return takeDue()
            case .nextHead:
                beginHead()
                return .arm(inbound.readableBytes > 0 ? .head : .idle)
            }
        case .tunnel, .lingering, .closed: return nil
        }
    }

    private mutating func takeDue() -> Action? {
        switch due {
        case .nothing: return nil
        case .arm(let timer):
            due = .nothing
            return .arm(timer)
        case .closeOutput(isArmed: false):
            due = .closeOutput(isArmed: true)
            return .arm(.moment)
        case .closeOutput(isArmed: true):
            due = .nothing
            return .closeOutput
        case .close:
            due = .nothing
            return .close
        }
    }

    private mutating func nextOfHead(isTimed: Bool) -> Action? {
        if case .waiting(let head) = streamHead {
            streamHead = .none
            return begin(head)
        }
        guard !isStream else { return nil }
        if isDraining, hasBegun, !isInsideHead { return linger(isInputComplete: true, closesWithOutput: true) }
        guard inbound.readableBytes > 0 else {
            return isInputClosed ? linger(isInputComplete: true) : nil
        }
        switch scanner.feed(&inbound) {
        case .head(let head): return begin(head)
        case .failed(let error):
            refuse(.head(error))
            return next()
        case .needMoreData:
            // The answers to earlier requests may not have been sent completely yet.
            if isInputClosed { return linger(isInputComplete: true) }
            guard !isTimed else { return nil }
            state = .head(isTimed: true)
            // The moment that a new connection gets while the gateway stops is for the beginning of a head.
            return .arm(isDraining ? .head : .headAtMost)
        }
    }

    private mutating func begin(_ head: RequestHead) -> Action {
        hasBegun = true
        body = isStream && head.framing != .none ? .stream : .framed(BodyDecoder(head.framing))
        state = .request(
            Request(
                isHead: head.knownMethod == .head, isVersion10: head.versionMinor == 0,
                // A stream carries one request and ends with its answer.
                keepsAlive: head.keepAlive && !isStream, isAwaitingContinue: head.expectContinue,
                hasBody: head.framing != .none))
        return .dispatch(head)
    }

    private enum Step {
        case wait
        case act(Action)
        case linger
        case close
        case nextHead
    }

    private mutating func step(_ request: inout Request) -> Step {
        while true {
            if let failure = request.failure { return step(&request, of: failure) }
            if request.answer == .done, let step = stepBehindAnswer(request) { return step }
            guard !request.isBodyComplete, !request.isBodyPaused || !request.hasExchange else { return .wait }
            switch takeBody() {
            case .data(let part):
                request.isAwaitingContinue = false
                if request.hasExchange { return .act(.giveBody(part)) }
                if request.answer != .done { due = .arm(.idle) }
                request.discardBudget -= part.readableBytes
                if request.discardBudget < 0 { return .linger }
            case .end:
                request.isBodyComplete = true
                if request.hasExchange { return .act(.giveEnd) }
            case .failed(let error): request.fail(.body(error))
            case .needMoreData:
                guard isInputClosed else { return .wait }
                request.fail(.bodyCut)
            }
        }
    }

    private func step(_ request: inout Request, of failure: Failure) -> Step {
        if request.hasExchange {
            request.hasExchange = false
            return .act(.dropExchange)
        }
        request.failure = nil
        switch request.answer {
        case .none: return .act(failure.isOfHead ? .refuse(failure.problem) : .respond(failure.problem))
        case .started: return .close
        case .done: return .linger
        }
    }

    /// The step after a complete answer; nil while the rest of its request still has to be read.
    private func stepBehindAnswer(_ request: Request) -> Step? {
        guard request.keepsAlive else { return .linger }
        if request.isBodyComplete { return isDraining || isLast(request) ? .linger : .nextHead }
        // The client may or may not send the body it announced, so the next request needs a new connection.
        return request.isAwaitingContinue ? .linger : nil
    }

    private mutating func takeBody() -> BodyEvent {
        switch body {
        case .framed(var decoder):
            body = .stream
            let event = decoder.next(&inbound, maxSlice: Self.maxPart)
            body = .framed(decoder)
            return event
        case .stream:
            let count = min(inbound.readableBytes, Self.maxPart)
            if count > 0, let part = inbound.readSlice(length: count) { return .data(part) }
            guard case .ended(let fault) = streamInput else { return .needMoreData }
            return fault.map { .failed($0) } ?? .end
        }
    }

    private mutating func beginHead() {
        state = .head(isTimed: false)
        // The next bytes get a buffer of their own: the storage of this one belongs to the request that is over.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
    }

    /// Makes a request of what could not be read as one, so that it is answered like any other and the connection
    /// closed after it.
    ///
    /// - Parameter isHead: whether the answer must have no body.
    mutating func refuse(_ failure: Failure, isHead: Bool = false) {
        body = .stream
        var request = Request(isHead: isHead)
        request.fail(failure)
        state = .request(request)
    }

    private mutating func linger(isInputComplete: Bool, closesWithOutput: Bool = false) -> Action {
        state = .lingering(Lingering(isInputComplete: isInputComplete, closesWithOutput: closesWithOutput))
        inbound = ByteBuffer()
        due = .nothing
        return .finishOutput
    }

    /// Closes the connection with the next action, from any state. Bytes that were not taken are dropped.
    mutating func close() {
        if case .closed = state { return }
        state = .closed
        inbound = ByteBuffer()
        due = .close
    }
}
