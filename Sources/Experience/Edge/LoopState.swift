import HTTPWire
import NIOCore
import SecurityGuard

/// What one event loop keeps for itself, so that the data plane shares nothing and locks nothing.
///
/// Confined to its loop.
final class LoopState {
    let loop: any EventLoop
    let tokens: VerifiedTokenCache
    let leases: LeaseTable
    let upstreams: UpstreamPools
    let flushes: FlushQueue
    let now: @Sendable () -> Int64
    let deadlines = DeadlineWheel()
    let assertions = AssertionCache()
    let identities = IdentityCache()
    var connections: [ObjectIdentifier: EdgeConnection] = [:]
    /// HTTP/2 connections; their streams are among `connections`.
    var streamParents: [ObjectIdentifier: StreamWatch] = [:]
    /// As of the last tick.
    var storeHealth = StoreHealth.current

    private let requestPrefix: String
    private var traceState = UInt64.random(in: .min ... .max)
    private var requestCounter: UInt64 = 0
    private var dateText = ""
    private var dateSecond: Int64 = -1

    init(
        loop: any EventLoop, tokens: VerifiedTokenCache, leases: LeaseTable, upstreams: UpstreamPools,
        flushes: FlushQueue, now: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.tokens = tokens
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

    /// Writes a new trace, for a request that brought none. Trace ids must differ; nobody has to be unable to guess them.
    func writeTraceparent(to buffer: inout ByteBuffer) {
        TraceContext.write(nextTraceWord(), nextTraceWord(), span: nextTraceWord(), to: &buffer)
    }

    /// SplitMix64.
    private func nextTraceWord() -> UInt64 {
        traceState &+= 0x9E37_79B9_7F4A_7C15
        var word = traceState
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// The current time as an IMF-fixdate (RFC 9110 section 5.6.7), made anew once a second.
    func date() -> String {
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
