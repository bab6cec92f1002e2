import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore
import Proxy
import SecurityGuard

/// The state that one event loop keeps for itself, so that the data plane shares no state and takes no locks.
///
/// Confined to its loop.
package final class LoopState {
    /// The event loop.
    package let loop: any EventLoop
    /// What the gate uses to judge requests without asking the store.
    package let gate: GateMemory
    /// The leases of the loop's sockets and streams.
    package let leases: LeaseTable
    /// The connections to upstreams.
    package let upstreams: UpstreamPools
    /// Hands written bytes to the kernel.
    package let flushes: FlushQueue
    /// Milliseconds since the Unix epoch.
    package let now: @Sendable () -> Int64
    /// The deadlines of the loop's connections.
    package let deadlines = DeadlineWheel()
    /// Makes the identity fields for upstreams.
    let identityMaker: IdentityMaker
    /// The open connections and streams.
    package var connections: [ObjectIdentifier: EdgeConnection] = [:]
    /// The open HTTP/2 connections; their streams are among `connections`.
    package var streamParents: [ObjectIdentifier: StreamWatch] = [:]
    let traces = TraceSource()

    private let requestPrefix: String
    private var requestCounter: UInt64 = 0
    private var dateText = ""
    private var dateSecond: Int64 = -1

    package init(
        loop: any EventLoop, gate: GateMemory, leases: LeaseTable, upstreams: UpstreamPools,
        flushes: FlushQueue, now: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.gate = gate
        self.identityMaker = IdentityMaker(
            assertions: AssertionCache(), identities: IdentityCache(), securityGuard: gate.securityGuard)
        self.leases = leases
        self.upstreams = upstreams
        self.flushes = flushes
        self.now = now
        self.requestPrefix = "req_" + RequestID.padded(UInt64.random(in: .min ... .max), to: 13)
    }

    func nextRequestID() -> RequestID {
        requestCounter &+= 1
        return RequestID(prefix: requestPrefix, count: requestCounter)
    }

    /// The current time as an IMF-fixdate (RFC 9110 section 5.6.7), written once a second.
    package func date() -> String {
        let second = now() / 1000
        if second != dateSecond {
            dateSecond = second
            var text = ByteBuffer()
            HTTPDate.write(second, to: &text)
            dateText = String(buffer: text)
        }
        return dateText
    }
}
