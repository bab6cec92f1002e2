import Foundation
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
            dateText = HTTPDate.text(secondsSinceEpoch: second)
        }
        return dateText
    }
}

/// IMF-fixdate without a formatter: called on the loop.
enum HTTPDate {
    static func text(secondsSinceEpoch: Int64) -> String {
        var time = time_t(secondsSinceEpoch)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "Thu, 01 Jan 1970 00:00:00 GMT" }
        let day = name(days, parts.tm_wday)
        let month = name(months, parts.tm_mon)
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(day), \(two(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1900) \(clock) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func name(_ list: [String], _ index: Int32) -> String {
        let index = Int(index)
        return list.indices.contains(index) ? list[index] : list[0]
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
