import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// What is due after the events, one action at a time.
extension ConnectionMachine {
    /// The one action that is due; nil until something happens. To be called until it gives nil, after every event.
    /// Time limits come before what the state asks for.
    mutating func next() -> Action? {
        switch state {
        case .head(let head): return takeTimer() ?? next(of: head)
        case .request(var request):
            if let action = takeTimer() { return action }
            let step = step(&request)
            state = .request(request)
            switch step {
            // A part of the body that was dropped may have set the time limit again.
            case .wait: return takeTimer()
            case .act(let action): return action
            case .linger:
                return linger(isInputComplete: request.isBodyComplete, isInputClosed: request.isInputClosed)
            case .close:
                close()
                return next()
            case .nextHead:
                beginHead(isInputClosed: request.isInputClosed)
                return .arm(inbound.readableBytes > 0 ? .head : .idle)
            }
        case .lingering(let lingering): return takeTimer() ?? next(of: lingering)
        case .closed(isTold: false):
            state = .closed(isTold: true)
            return .close
        case .tunnel, .closed(isTold: true): return nil
        }
    }

    private mutating func takeTimer() -> Action? {
        guard let timer else { return nil }
        self.timer = nil
        return .arm(timer)
    }

    private mutating func next(of head: Head) -> Action? {
        if case .waiting(let arrived, let input) = head.arrived { return begin(arrived, input, behind: head) }
        guard !isStream else { return nil }
        if head.isDraining, !head.isFirst, !isInsideHead {
            return linger(isInputComplete: true, isInputClosed: head.isInputClosed, closesConnection: true)
        }
        guard inbound.readableBytes > 0 else {
            return head.isInputClosed ? linger(isInputComplete: true, isInputClosed: true) : nil
        }
        switch scanner.feed(&inbound) {
        case .head(let arrived): return begin(arrived, .open, behind: head)
        case .failed(let error):
            refuse(.head(error))
            return next()
        case .needMoreData:
            // The answers to earlier requests may not have been sent completely yet.
            if head.isInputClosed { return linger(isInputComplete: true, isInputClosed: true) }
            guard !head.isTimed else { return nil }
            var head = head
            head.isTimed = true
            state = .head(head)
            // The moment that a new connection gets while the gateway stops is for the beginning of a head.
            return .arm(head.isDraining ? .head : .headAtMost)
        }
    }

    private mutating func next(of lingering: Lingering) -> Action? {
        guard case .shutting(let isArmed) = lingering.output else { return nil }
        var lingering = lingering
        lingering.output = isArmed ? .shut : .shutting(isArmed: true)
        state = .lingering(lingering)
        return isArmed ? .closeOutput : .arm(.moment)
    }

    private mutating func begin(_ arrived: RequestHead, _ input: StreamInput, behind head: Head) -> Action {
        source = isStream && arrived.framing != .none ? .stream(input) : .framed(BodyDecoder(arrived.framing))
        // A stream carries one request and ends with its answer.
        let keepsAlive = arrived.keepAlive && !isStream
        state = .request(
            Request(
                isHead: arrived.knownMethod == .head, isVersion10: arrived.versionMinor == 0,
                isAwaitingContinue: arrived.expectContinue, hasBody: arrived.framing != .none,
                isInputClosed: head.isInputClosed,
                sequel: head.isDraining ? .drained : keepsAlive ? .nextHead : .close))
        return .dispatch(arrived)
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
            if case .failed(let failure, let hasExchange) = request.body {
                return step(&request, of: failure, hasExchange)
            }
            if request.answer == .done, let step = stepBehindAnswer(request) { return step }
            let budget: Int?
            switch request.body {
            case .given(isPaused: false): budget = nil
            case .dropped(let left): budget = left
            case .given(isPaused: true), .complete, .failed: return .wait
            }
            switch takeBody() {
            case .data(let part):
                request.isAwaitingContinue = false
                guard let budget else { return .act(.giveBody(part)) }
                if request.answer != .done { timer = .idle }
                guard part.readableBytes <= budget else { return .linger }
                request.body = .dropped(budget: budget - part.readableBytes)
            case .end:
                request.body = .complete
                if budget == nil { return .act(.giveEnd) }
            case .failed(let error): request.fail(.body(error))
            case .needMoreData:
                guard request.isInputClosed else { return .wait }
                request.fail(.bodyCut)
            }
        }
    }

    private func step(_ request: inout Request, of failure: Failure, _ hasExchange: Bool) -> Step {
        if hasExchange {
            request.letGo()
            return .act(.dropExchange)
        }
        request.body = .complete
        switch request.answer {
        case .none: return .act(failure.isOfHead ? .refuse(failure.problem) : .respond(failure.problem))
        case .started: return .close
        case .done: return .linger
        }
    }

    /// The step after a complete answer; nil while the rest of its request still has to be read.
    private func stepBehindAnswer(_ request: Request) -> Step? {
        guard request.sequel == .nextHead else { return .linger }
        if request.isBodyComplete { return isLast(request) ? .linger : .nextHead }
        // The client may or may not send the body it announced, so the next request needs a new connection.
        return request.isAwaitingContinue ? .linger : nil
    }

    private mutating func takeBody() -> BodyEvent {
        switch source {
        case .framed(var decoder):
            source = .stream(.open)
            let event = decoder.next(&inbound, maxSlice: Self.maxPart)
            source = .framed(decoder)
            return event
        case .stream(let input):
            let count = min(inbound.readableBytes, Self.maxPart)
            if count > 0, let part = inbound.readSlice(length: count) { return .data(part) }
            guard case .ended(let fault) = input else { return .needMoreData }
            return fault.map { .failed($0) } ?? .end
        }
    }

    private mutating func beginHead(isInputClosed: Bool) {
        state = .head(Head(isFirst: false, isInputClosed: isInputClosed))
        // The next bytes get a buffer of their own: the storage of this one belongs to the request that is over.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
    }

    /// Makes a request of the head that could not be read as one, so that it is answered like any other and the
    /// connection closed after it. Ignored outside of a head.
    ///
    /// - Parameter isHead: whether the answer must have no body.
    mutating func refuse(_ failure: Failure, isHead: Bool = false) {
        guard case .head(let head) = state else { return }
        source = .stream(.open)
        state = .request(
            Request(
                isHead: isHead, isInputClosed: head.isInputClosed, sequel: head.isDraining ? .drained : .close,
                body: .failed(failure, hasExchange: false)))
    }

    private mutating func linger(
        isInputComplete: Bool, isInputClosed: Bool, closesConnection: Bool = false
    ) -> Action {
        state = .lingering(
            Lingering(
                output: .sending(closesConnection: closesConnection), isInputComplete: isInputComplete,
                isInputClosed: isInputClosed))
        inbound = ByteBuffer()
        timer = nil
        return .finishOutput
    }

    /// Closes the connection with the next action, from any state. Bytes that were not taken are dropped.
    mutating func close() {
        if case .closed = state { return }
        end(isTold: false)
    }

    /// Nothing but the action of closing, if that is still to be told, is due any more.
    mutating func end(isTold: Bool) {
        state = .closed(isTold: isTold)
        inbound = ByteBuffer()
        timer = nil
    }
}
