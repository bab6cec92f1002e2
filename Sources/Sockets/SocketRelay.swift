import EdgeCore
import HTTPWire
import Leases
import NIOCore
import Proxy

/// An upgraded connection between a client and an upstream: does what ``SocketRelayMachine`` decides. Confined to the
/// event loop that both connections are on.
final class SocketRelay: Tunnel, UpstreamUser, LeaseHolder, LastingExchange {
    private let writer: any ResponseWriter
    private let upstream: UpstreamConnection
    private let reservation: SocketReservation?
    private let leases: LeaseTable
    private var machine: SocketRelayMachine
    /// nil on an open route, and once it is over.
    private var leaseID: LeaseTable.ID?
    private var client: (any Channel)?

    /// - Parameters:
    ///   - leaseID: the upgrade's lease, which becomes the socket's; nil on an open route.
    ///   - early: what the upstream has sent after its 101.
    init(
        writer: any ResponseWriter, upstream: UpstreamConnection, reservation: SocketReservation?, leases: LeaseTable,
        leaseID: LeaseTable.ID?, early: ByteBuffer
    ) {
        self.writer = writer
        self.upstream = upstream
        self.reservation = reservation
        self.leases = leases
        self.leaseID = leaseID
        self.machine = SocketRelayMachine(early: early)
        if let leaseID { leases.move(leaseID, to: self) }
    }

    // MARK: The client

    /// Has TCP's keep-alive probes notice a peer that has vanished: a relay sends no pings of its
    /// own.
    func opened(on channel: any Channel) {
        let actions = machine.opened()
        // A client that was gone before has been given everything back already.
        guard machine.isRelaying else { return }
        client = channel
        KeepAlive.armClient(channel)
        upstream.armKeepAlive()
        perform(actions)
    }

    var wantsBytes: Bool { machine.wantsClientBytes(upstreamTakes: upstream.isWritable) }
    func received(_ bytes: ByteBuffer) { perform(machine.clientSent(bytes)) }
    func receivedAll() { perform(machine.clientSentAll()) }
    func clientBecameWritable() { perform(machine.clientBecameWritable()) }
    func clientGone() { perform(machine.clientGone(wasReset: writer.wasReset)) }

    /// Sends a Close with 1001 at the next border between two frames.
    func drain() { end(.draining) }
    /// The same with 4403, after a reload without the socket's route.
    func routeGone() { end(.routeGone) }

    private func end(_ reason: LeaseEnd) {
        leaseEnded(reason)
        settle()
    }

    // MARK: Its operator

    var lastingKind: LastingKind? { machine.isRelaying ? .relay : nil }
    var endsAt: Int64? { leaseID.flatMap(leases.terms(of:))?.due }

    func endedByOperator() {
        if let leaseID { leases.end(leaseID, .endedByOperator) } else { end(.endedByOperator) }
    }

    // MARK: The upstream

    var wantsUpstreamBytes: Bool { machine.wantsUpstreamBytes(clientTakes: writer.isClientWritable) }
    func upstreamReceived(_ bytes: ByteBuffer) { perform(machine.upstreamSent(bytes)) }
    func upstreamReceivedAll() { perform(machine.upstreamSentAll()) }
    func upstreamBecameWritable() { perform(machine.upstreamBecameWritable()) }
    func upstreamClosed() { perform(machine.upstreamClosed()) }

    // MARK: The lease

    func leaseEnded(_ end: LeaseEnd) { perform(machine.leaseEnded(end, now: writer.eventLoop.now)) }
    func settle() { perform(machine.settle()) }

    // MARK: Actions

    private func perform(_ actions: ActionList<SocketRelayMachine.Action>) {
        actions.carryOut { perform($0) }
    }

    private func perform(_ action: SocketRelayMachine.Action) {
        switch action {
        case .writeToUpstream(let bytes): upstream.write(bytes)
        case .flushUpstream: upstream.flush()
        case .writeToClient(let bytes): writer.writeTunnel(bytes)
        case .flushClient: writer.flushTunnel()
        case .flushClientNow: writer.flushTunnelNow()
        case .readClient: client?.read()
        case .readUpstream: upstream.resumeReading()
        case .wait(let time): wait(time)
        case .giveBack:
            if let leaseID { leases.remove(leaseID) }
            leaseID = nil
            reservation?.leave()
        case .closeUpstream: upstream.release(clean: false)
        case .finishUpstream:
            let upstream = upstream
            SocketEnding.close(upstream.channel, on: writer.deadlines)
            upstream.channel.closeFuture.assumeIsolated().whenComplete { _ in upstream.release(clean: false) }
        case .closeClient: (client ?? writer.channel).close(promise: nil)
        case .finishClient(let time):
            if let client { SocketEnding.close(client, within: time, on: writer.deadlines) }
        }
    }

    private func wait(_ time: TimeAmount) {
        let bound = NIOLoopBound(self, eventLoop: writer.eventLoop)
        writer.eventLoop.scheduleTask(in: time) {
            let relay = bound.value
            relay.perform(relay.machine.timePassed(now: relay.writer.eventLoop.now))
        }
    }
}
