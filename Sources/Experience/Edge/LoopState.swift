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
    let now: @Sendable () -> Int64
    let assertions = AssertionCache()
    var connections: [ObjectIdentifier: EdgeConnection] = [:]
    /// As of the last tick.
    var storeHealth = StoreHealth.current

    private let requestPrefix: String
    private var requestCounter: UInt64 = 0
    private var dateText = ""
    private var dateSecond: Int64 = -1

    init(
        loop: any EventLoop, tokens: VerifiedTokenCache, leases: LeaseTable, upstreams: UpstreamPools,
        now: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.tokens = tokens
        self.leases = leases
        self.upstreams = upstreams
        self.now = now
        self.requestPrefix = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// An id that finds one request in log and audit: random per loop and start, then counted.
    func nextRequestID() -> String {
        requestCounter &+= 1
        return "req_\(requestPrefix)\(String(requestCounter, radix: 36))"
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
