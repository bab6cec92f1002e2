import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// How a connection ends: after its answer, at its deadline, with its peer, with the gateway.
extension EdgeConnection: DeadlineHolder {
    /// The gateway stops: idle connections close now, others after their answer, tunnels say goodbye.
    package func drain() {
        isDraining = true
        switch phase {
        case .head: closeNow()
        case .tunnel: tunnel?.drain()
        default: keepsAlive = false
        }
    }

    func inputClosed(context: ChannelHandlerContext) {
        isInputClosed = true
        switch phase {
        // The answer to a request that came in one piece with the end may still be on its way out.
        case .head: closeGracefully()
        case .closed: context.close(promise: nil)
        case .lingering:
            // What is still on its way goes out first.
            if isOutputClosed { context.close(promise: nil) }
        case .tunnel: closeNow()
        case .body: process()
        case .answering:
            // A client may shut down its side and wait for its answers. One that has closed its socket sends the same, and
            // is found out by what is written next; a stream that has nothing to write must not wait for that.
            if isAnswerStarted, framing == .stream { deadline.arm(after: .milliseconds(500)) }
        }
    }

    package func deadlinePassed() {
        switch phase {
        case .head:
            if inbound.readableBytes > 0 || scanner.isInsideHead {
                refuseHead(Problem(.badMessage, .late, detail: "The request head did not arrive in time."))
            } else {
                closeNow()
            }
        case .body where !isBodyPaused && exchange != nil && !isAnswerStarted:
            bodyFailed(Problem(.badMessage, .late, detail: "The request body did not arrive in time."))
        case .body where !isBodyPaused, .lingering:
            closeNow()
        case .answering where !channel.isWritable:
            closeNow()
        case .answering where isInputClosed && isAnswerStarted && framing == .stream:
            closeNow()
        case .body, .answering:
            // The upstream has a time limit of its own.
            deadline.arm(after: services.idleTimeout)
        case .tunnel, .closed:
            break
        }
    }

    /// Closes after what was written has gone out, and reads on for a moment: a reset would destroy the answer.
    ///
    /// What was written may take a slow reader a while: only when it has gone out does the moment begin.
    func closeGracefully() {
        guard phase != .closed, phase != .lingering, let context else { return }
        phase = .lingering
        inbound.clear()
        discardBudget = 1024 * 1024
        deadline.arm(after: services.idleTimeout)
        let written = eventLoop.makePromise(of: Void.self)
        flushNow()
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        let me = NIOLoopBound(self, eventLoop: eventLoop)
        written.futureResult.whenComplete { _ in me.value.closeOutput() }
    }

    func closeOutput() {
        guard phase == .lingering, let context else { return }
        if isInputClosed || (origin.isStream && decoder.isComplete) { return closeNow() }
        isOutputClosed = true
        deadline.arm(after: .milliseconds(500))
        // A stream has ended with its answer; a client that still sends is given the moment to see that.
        if origin.isStream { return }
        context.close(mode: .output, promise: nil)
    }

    func closeNow() {
        guard phase != .closed else { return }
        let context = self.context
        flushIfPending()
        goAway()
        context?.close(promise: nil)
    }

    func goAway() {
        guard phase != .closed else { return }
        phase = .closed
        deadline.cancel()
        let tunnel = self.tunnel
        let exchange = self.exchange
        self.tunnel = nil
        self.exchange = nil
        inbound = ByteBuffer()
        tunnel?.clientGone()
        exchange?.clientGone()
    }
}
