import HTTPWire
import NIOCore

/// What the upstream answers, on its way to the client.
extension ProxyExchange: UpstreamUser {
    var wantsUpstreamBytes: Bool { !isClientBlocked && (state != .streaming || writer.isClientWritable) }

    func upstreamBecameWritable() { writer.resumeBody() }

    func upstreamReceived(_ bytes: ByteBuffer) {
        var bytes = bytes
        if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeBuffer(&bytes) }
        drainInbound()
    }

    func upstreamReceivedAll() {
        guard state == .streaming else { return }
        takeLease()
        writer.flushResponse()
    }

    func upstreamClosed() {
        switch state {
        case .connecting, .done: break
        case .waiting:
            retryOrFail()
        case .streaming:
            // A slow client may still have to be given what came before the end.
            isBroken = upstream?.isBroken ?? true
            hasUpstreamEnded = true
            release(clean: false)
            drainInbound()
        }
    }

    /// Everything that came has been passed on, and no more will come.
    func endWithUpstream() {
        if case .untilClose = decoderFraming, !isBroken {
            complete()
        } else {
            // The client must be able to tell that the answer is not whole.
            finish(clean: false)
            writer.abortResponse()
        }
    }

    func drainInbound() {
        while true {
            switch state {
            case .waiting: guard readHead() else { return }
            case .streaming: guard readBody() else { return }
            case .connecting, .done: return
            }
        }
    }

    func readHead() -> Bool {
        guard inbound.readableBytes > 0 else { return false }
        switch scanner.feed(&inbound, requestWasHead: isHead) {
        case .needMoreData: return false
        case .failed:
            if let upstream { tell(.malformed, of: upstream.member) }
            fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
            return false
        case .head(let head) where head.status < 200:
            return interim(head)
        case .head(let head):
            begin(head)
            return true
        }
    }

    func interim(_ head: ResponseHead) -> Bool {
        interimCount += 1
        guard head.status != 101, interimCount <= 16 else {
            fail(Problem(.upstreamUnavailable, reason: "unexpected_interim_answer"))
            return false
        }
        var out = ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: false)
        out.writeStaticString("\r\n")
        writer.sendInterim(out, isContinue: head.status == 100)
        return true
    }

    func begin(_ head: ResponseHead) {
        state = .streaming
        keepsUpstream = head.keepAlive
        decoder = BodyDecoder(head.framing)
        decoderFraming = head.framing
        deadline.arm(after: terms.timeout)
        isStream = terms.isLeased || ResponseFilter.isEventStream(head)
        let framing: ResponseFraming
        switch head.framing {
        case .none: framing = .none
        case .length(let count): framing = .length(count)
        case .chunked, .untilClose: framing = .stream
        }
        // HEAD and 304 may say how long a body would be; nothing else without a body may.
        let keepsLength = head.framing == .none && (isHead || head.status == 304)
        writer.startResponse(
            ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: keepsLength), framing: framing)
    }

    /// An answer that is not complete after its first burst of bytes can be ended early: a stream by whatever ends its
    /// lease, any other only by a revocation.
    func takeLease() {
        guard leaseID == nil,
            var lease = terms.admitted.leaseTerms(
                clockSkew: services.configuration.tokens.clockSkew,
                maxLifetime: services.configuration.webSocket.maxLifetime, now: receivedAt)
        else { return }
        if !isStream {
            lease.expiresAt = nil
            lease.endsAt = .max
        }
        leaseID = loop.leases.insert(lease, holder: self)
    }

    func readBody() -> Bool {
        guard writer.isClientWritable else {
            isClientBlocked = true
            return false
        }
        switch decoder.next(&inbound, maxSlice: 64 * 1024) {
        case .needMoreData:
            if hasUpstreamEnded { endWithUpstream() }
            return false
        case .data(let part):
            deadline.arm(after: terms.timeout)
            writer.sendBody(part)
            return state == .streaming
        case .end:
            let clean = keepsUpstream && isRequestDone && inbound.readableBytes == 0
            release(clean: clean)
            complete()
            return false
        case .failed:
            finish(clean: false)
            writer.abortResponse()
            return false
        }
    }
}
