import EdgeCore
import HTTPWire
import Leases
import NIOCore
import Proxy

/// An upgraded connection between a client and an upstream: bytes pass untouched, only frame borders are followed, so
/// that a Close can be put between two frames when the lease ends.
final class SocketRelay: Tunnel, UpstreamUser, LeaseHolder {
    private let writer: any ResponseWriter
    private let upstream: UpstreamConnection
    private let place: SocketPlace?
    private let leases: LeaseTable
    private var leaseID: LeaseTable.ID?
    private var client: (any Channel)?
    private var toClient = FrameTracker()
    private var isEnding = false
    private var isOver = false
    /// The last frame has been sent; neither side has been closed yet.
    private var isUnsettled = false
    /// What the upstream sent behind its 101, before the client had its own.
    private var early: ByteBuffer?

    init(
        writer: any ResponseWriter, upstream: UpstreamConnection, place: SocketPlace?, leases: LeaseTable,
        terms: LeaseTerms?, early: ByteBuffer
    ) {
        self.writer = writer
        self.upstream = upstream
        self.place = place
        self.leases = leases
        self.early = early.readableBytes > 0 ? early : nil
        if let terms { self.leaseID = leases.insert(terms, holder: self) }
    }

    // MARK: From the client

    func opened(on channel: any Channel) {
        client = channel
        KeepAlive.armClient(channel)
        KeepAlive.arm(upstream.channel)
        if let early {
            self.early = nil
            upstreamReceived(early)
            writer.flushTunnel()
        }
        upstream.resumeReading()
    }

    var wantsBytes: Bool { isEnding || upstream.isWritable }

    func received(_ bytes: ByteBuffer) {
        guard !isEnding, !isOver else { return }
        upstream.write(bytes)
    }

    func receivedAll() {
        if !isOver { upstream.flush() }
    }

    func clientBecameWritable() { upstream.resumeReading() }

    /// What the client said last, its Close perhaps, still reaches the upstream.
    func clientGone() {
        guard !isOver else { return }
        over()
        let upstream = self.upstream
        // Who was cut off has said nothing that was worth more than its place.
        if writer.wasReset { return upstream.release(clean: false) }
        SocketEnding.close(upstream.channel, on: writer.deadlines)
        upstream.channel.closeFuture.assumeIsolated().whenComplete { _ in upstream.release(clean: false) }
    }

    // MARK: From the upstream

    var wantsUpstreamBytes: Bool { client != nil && writer.isClientWritable }

    func upstreamReceived(_ bytes: ByteBuffer) {
        guard !isOver, client != nil else {
            if client == nil { hold(bytes) }
            return
        }
        guard !isEnding else { return finishFrame(with: bytes) }
        // A frame whose length can't be is the client's to refuse: it is passed on like any other bytes.
        _ = toClient.advance(over: bytes)
        writer.writeTunnel(bytes)
    }

    func upstreamReceivedAll() {
        if !isOver { writer.flushTunnel() }
    }

    func upstreamBecameWritable() { client?.read() }

    func upstreamClosed() {
        guard !isOver else { return }
        over()
        upstream.release(clean: false)
        if let client { SocketEnding.close(client, within: .seconds(5), on: writer.deadlines) }
    }

    private func hold(_ bytes: ByteBuffer) {
        var bytes = bytes
        if early == nil { early = bytes } else { early?.writeBuffer(&bytes) }
    }

    // MARK: The lease

    func drain() {
        leaseEnded(.draining)
        settle()
    }

    private var end: LeaseEnd?
    private static let borderTime = TimeAmount.milliseconds(80)

    /// Puts a Close at the next frame border; where none comes soon the connection ends as it is.
    func leaseEnded(_ end: LeaseEnd) {
        guard !isOver, !isEnding, let client else { return }
        isEnding = true
        self.end = end
        if toClient.isAtBoundary { return sayGoodbye() }
        let bound = NIOLoopBound(self, eventLoop: client.eventLoop)
        client.eventLoop.scheduleTask(in: Self.borderTime) { bound.value.giveUp() }
    }

    private func finishFrame(with bytes: ByteBuffer) {
        guard end != nil else { return }
        guard case .success(let progress) = toClient.advanceToBoundary(over: bytes) else { return giveUp() }
        if let rest = bytes.getSlice(at: bytes.readerIndex, length: progress.consumed) {
            writer.writeTunnel(rest)
        }
        if progress.isAtBoundary {
            sayGoodbye()
            settle()
        }
    }

    private func sayGoodbye() {
        guard let end, !isOver else { return }
        isOver = true
        isUnsettled = true
        writer.writeTunnel(toClient.hasSeenClose ? ByteBuffer() : end.frame)
        writer.flushTunnelNow()
    }

    func settle() {
        guard isUnsettled, let client else { return }
        isUnsettled = false
        over()
        upstream.release(clean: false)
        SocketEnding.close(client, on: writer.deadlines)
        client.read()
    }

    private func giveUp() {
        guard !isOver else { return }
        over()
        upstream.release(clean: false)
        client?.close(promise: nil)
    }

    private func over() {
        isOver = true
        isEnding = true
        if let leaseID { leases.remove(leaseID) }
        leaseID = nil
        place?.leave()
    }
}
