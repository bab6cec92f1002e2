import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// The answering side of a connection.
extension EdgeConnection: ResponseWriter {
    /// Reads no more of the request's body until ``resumeBody()``.
    package func pauseBody() { machine.pauseBody() }

    /// Lets the body flow again.
    package func resumeBody() {
        machine.resumeBody()
        act()
    }

    /// Sends 100 (Continue) to a client that waits for it, when the gateway itself wants the body.
    func sendContinue() {
        guard let context, machine.sendContinue() else { return }
        write(interim: AnswerHead(status: 100, answerForm, date: nil), to: context)
    }

    /// Flushed at once: the client may be waiting for it.
    package func sendInterim(_ head: AnswerHead, isContinue: Bool) {
        guard let context, machine.sendInterim(isContinue: isContinue) else { return }
        write(interim: head, to: context)
    }

    private func write(interim head: AnswerHead, to context: ChannelHandlerContext) {
        if let stream { stream.writeInterim(head) } else { write(whole: head, to: context) }
        flushAll(context)
    }

    /// Writes a head to which nothing is added.
    private func write(whole head: AnswerHead, _ first: ByteBuffer? = nil, to context: ChannelHandlerContext) {
        var head = head
        var lines = head.fields.takeLines()
        lines.writeStaticString("\r\n")
        if let first { lines.writeImmutableBuffer(first) }
        write(lines, to: context)
    }

    /// Over HTTP/1.1 it is held until the first part of the body, a flush or the end, so that a small answer is one
    /// write. Ignored where an answer has begun.
    package func startResponse(_ head: consuming AnswerHead, framing: ResponseFraming) {
        guard context != nil else { return }
        guard let terms = machine.startAnswer(framing, isStopping: loop.isDraining) else { return }
        record.answered(head.status)
        if let stream {
            stream.start(head, more: answerFields, terms)
        } else {
            encoder.start(head.fields.takeLines(), more: answerFields, terms)
        }
    }

    /// Dropped for a HEAD, and after the answer's end. Every part gives the client another `server.idle_timeout` to
    /// read.
    package func sendBody(_ bytes: ByteBuffer) {
        guard let context, bytes.readableBytes > 0, machine.takesAnswerBody else { return }
        deadline.arm(after: services.idleTimeout)
        record.bytesOut += Int64(bytes.readableBytes)
        if let stream {
            stream.write(body: bytes)
        } else {
            write(encoder.body(bytes), to: context)
        }
    }

    /// Sends what was written, a head that is still held included, once the loop has processed everything that has
    /// arrived.
    package func flushResponse() {
        guard let context else { return }
        if let head = encoder.heldHead() { write(head, to: context) }
        flush()
    }

    /// Records the request, and goes on with the next one that has arrived.
    package func finishResponse() {
        guard let context, machine.finishAnswer() else { return }
        exchange = nil
        if let stream { stream.end() } else { write(encoder.end(), to: context) }
        flush()
        endRecord()
        act()
    }

    private func write(_ pieces: AnswerEncoder.Pieces, to context: ChannelHandlerContext) {
        if let piece = pieces.first { write(piece, to: context) }
        if let piece = pieces.second { write(piece, to: context) }
        if let piece = pieces.third { write(piece, to: context) }
        if let piece = pieces.fourth { write(piece, to: context) }
    }

    /// False while a flush is pending.
    package func endSending() -> Bool {
        guard !isFlushPending, let context else { return false }
        return output.endSending(on: context.channel)
    }

    /// Records the request with what was sent of it.
    package func abortResponse() {
        exchange = nil
        machine.abortAnswer()
        endRecord()
        act()
    }

    /// Counts the problem and writes it to the audit log, then answers with it as JSON.
    package func respond(_ problem: Problem) {
        switch machine.refusal {
        case .none: return
        case .abort: return abortResponse()
        case .answer: break
        }
        let requestID = requestID.text
        observe(problem)
        let body = problem.body(requestID: requestID, explain: services.explainsErrors)
        respond(status: problem.status, fields: problem.answerHeaders(), body: body)
    }

    /// Sends a complete answer of the gateway itself. A 1xx, 204 or 304 has no body, whatever `body` is. Ignored where
    /// an answer has begun.
    ///
    /// - Parameter identity: who the caller is, for a proxy in front.
    /// - Parameter fields: without those that concern the connection; CORS fields and `X-Request-Id` are added.
    func respond(
        status: Int, fields: [(name: String, value: String)], identity: FieldLines? = nil, body: [UInt8]
    ) {
        guard machine.refusal == .answer else { return }
        var head = AnswerHead(status: status, answerForm, date: loop.date())
        if let identity { head.fields.add(identity) }
        for field in fields { head.fields.add(field.name, field.value) }
        head.fields.add("X-Request-Id", expecting: 32) { requestID.write(to: &$0) }
        let hasBody = status != 204 && status != 304 && status >= 200
        startResponse(head, framing: hasBody ? .length(Int64(body.count)) : .none)
        if hasBody { sendBody(ByteBuffer(bytes: body)) }
        finishResponse()
    }

    /// From here on the connection is closed after the current answer.
    func closeAfterAnswer() { machine.closeAfterAnswer() }
    func expectTunnel() { machine.expectTunnel() }

    /// A tunnel that can't be opened any more is told that its client has gone. It is ended at once where the gateway
    /// stops, or where its route has gone during the handshake.
    package func switchProtocols(_ head: AnswerHead, first: ByteBuffer?, to tunnel: any Tunnel) {
        guard let context, let (early, isDraining) = machine.switchProtocols() else { return tunnel.clientGone() }
        exchange = nil
        self.tunnel = tunnel
        beginTunnelRecord()
        deadline.cancel()
        if let stream { stream.switchProtocols(head, first) } else { write(whole: head, first, to: context) }
        flushAll(context)
        // The write may have found the client gone, and the tunnel has been told so then.
        guard self.tunnel === tunnel else { return }
        tunnel.opened(on: channel)
        if early.readableBytes > 0 {
            record.bytesIn += Int64(early.readableBytes)
            tunnel.received(early)
            tunnel.receivedAll()
        }
        if isDraining, !machine.isClosed { tunnel.drain() }
        // The configuration may have changed while the handshake was answered.
        if let current = loop.snapshot, current !== snapshot {
            endTunnel(unless: { current.services.routes.contains($0) })
        }
        act()
        resumeReading()
    }

    /// Has the access log name the upstream.
    package func upstreamAsked(_ place: String) { record.asked(place) }
    /// Has the access log name the upstream that could not be connected to.
    package func upstreamNotReached(_ place: String) { record.notReached(place) }
    /// Ends the time that the record counts for the upstream.
    package func upstreamAnswered() { record.upstreamAnswered() }

    /// Counted in the record; sent with the next flush.
    package func writeTunnel(_ bytes: ByteBuffer) {
        record.bytesOut += Int64(bytes.readableBytes)
        if let context { write(bytes, to: context) }
    }

    /// Flushes once the loop has processed everything that has arrived.
    package func flushTunnel() { flush() }
    /// Flushes at once, for bytes that must not wait.
    package func flushTunnelNow() { flushNow() }
}
