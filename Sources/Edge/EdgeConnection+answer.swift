import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// The answering side of a connection.
extension EdgeConnection: ResponseWriter {
    package func pauseBody() { isBodyPaused = true }

    package func resumeBody() {
        guard isBodyPaused else { return }
        isBodyPaused = false
        process()
        resumeReading()
    }

    /// The upstream or the API wants the body: tell a client that waits for leave to send it.
    func sendContinue() {
        guard isAwaitingContinue, !isAnswerStarted, let context else { return }
        isAwaitingContinue = false
        write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"), to: context)
        flushOutput(context)
    }

    package func sendInterim(_ head: ByteBuffer, isContinue: Bool) {
        guard !isVersion10, !isAnswerStarted, let context else { return }
        // Any other interim answer leaves the client waiting for leave to send its body.
        if isContinue { isAwaitingContinue = false }
        write(head, to: context)
        flushOutput(context)
    }

    package func startResponse(_ head: consuming ByteBuffer, framing: ResponseFraming) {
        guard context != nil, !isAnswerStarted, phase != .closed else { return }
        isAnswerStarted = true
        self.framing = framing
        var out = head
        if isDraining || hasLastRequest || (isAwaitingContinue && phase == .body) { keepsAlive = false }
        switch framing {
        case .none: break
        case .length(let count): HeadWriter.field("Content-Length", count, to: &out)
        case .stream:
            if isVersion10 { keepsAlive = false } else { out.writeStaticString("Transfer-Encoding: chunked\r\n") }
        }
        if var fields = answerFields { out.writeBuffer(&fields) }
        if !keepsAlive {
            out.writeStaticString("Connection: close\r\n")
        } else if isVersion10 {
            out.writeStaticString("Connection: keep-alive\r\n")
        }
        out.writeStaticString("\r\n")
        pendingHead = out
    }

    /// Writes the head, with a small body of known length behind it: one piece for the kernel instead of two.
    private func writeHead(with body: ByteBuffer?, _ context: ChannelHandlerContext) -> Bool {
        guard var out = pendingHead.take() else { return false }
        defer { write(out, to: context) }
        guard let body, body.readableBytes <= Self.smallBody else { return false }
        out.writeImmutableBuffer(body)
        return true
    }

    private static let smallBody = 16 * 1024

    package func sendBody(_ bytes: ByteBuffer) {
        guard let context, isAnswerStarted, !isAnswerDone, !isHeadRequest, bytes.readableBytes > 0 else { return }
        deadline.arm(after: services.idleTimeout)
        switch framing {
        case .none: return
        case .length:
            if !writeHead(with: bytes, context) { write(bytes, to: context) }
        case .stream:
            _ = writeHead(with: nil, context)
            if isVersion10 {
                write(bytes, to: context)
                return
            }
            var size = ByteBuffer()
            HeadWriter.chunkHeader(length: bytes.readableBytes, to: &size)
            write(size, to: context)
            write(bytes, to: context)
            write(HeadWriter.chunkEnd, to: context)
        }
    }

    package func flushResponse() {
        guard let context else { return }
        _ = writeHead(with: nil, context)
        flush()
    }

    package func finishResponse() {
        guard let context, isAnswerStarted, !isAnswerDone else { return }
        isAnswerDone = true
        exchange = nil
        _ = writeHead(with: nil, context)
        if framing == .stream, !isVersion10, !isHeadRequest {
            write(HeadWriter.lastChunk, to: context)
        }
        flush()
        isBodyPaused = false
        if !keepsAlive, phase == .answering || phase == .body {
            closeGracefully()
        } else {
            process()
        }
    }

    package func abortResponse() {
        guard phase != .closed else { return }
        exchange = nil
        closeNow()
    }

    package func respond(_ problem: Problem) {
        guard phase != .closed, phase != .tunnel else { return }
        if isAnswerStarted { return abortResponse() }
        let requestID = self.requestID.text
        services.observe(problem, requestID: requestID)
        let body = problem.body(requestID: requestID, explain: services.explainsErrors)
        respond(status: problem.status, fields: problem.answerHeaders(), body: body)
    }

    /// A whole answer of the gateway's own.
    ///
    /// - Parameter identity: fields that are written already, each with its line end.
    package func respond(
        status: Int, fields: [(name: String, value: String)], identity: ByteBuffer? = nil, body: [UInt8]
    ) {
        guard !isAnswerStarted else { return }
        var head = AnswerHead.begin(status: status, date: loop.date())
        if let identity { head.writeImmutableBuffer(identity) }
        for field in fields { AnswerHead.write(field: field.name, field.value, to: &head) }
        head.writeStaticString("X-Request-Id: ")
        requestID.write(to: &head)
        head.writeStaticString("\r\n")
        let hasBody = status != 204 && status != 304 && status >= 200
        startResponse(head, framing: hasBody ? .length(Int64(body.count)) : .none)
        if hasBody { sendBody(ByteBuffer(bytes: body)) }
        finishResponse()
    }

    /// From here on the connection is closed after the current answer.
    func closeAfterAnswer() { keepsAlive = false }

    package func switchProtocols(_ head: ByteBuffer, to tunnel: any Tunnel) {
        guard let context, phase != .closed, !isAnswerStarted else { return tunnel.clientGone() }
        isAnswerStarted = true
        exchange = nil
        phase = .tunnel
        self.tunnel = tunnel
        deadline.cancel()
        write(head, to: context)
        flushOutput(context)
        tunnel.opened(on: channel)
        if inbound.readableBytes > 0 {
            let early = inbound
            inbound = ByteBuffer()
            tunnel.received(early)
            tunnel.receivedAll()
        }
        if isInputClosed {
            closeNow()
        } else if isDraining {
            tunnel.drain()
        }
        resumeReading()
    }

    package func writeTunnel(_ bytes: ByteBuffer) {
        if let context { write(bytes, to: context) }
    }

    package func flushTunnel() { flush() }
    package func flushTunnelNow() { flushNow() }
}
