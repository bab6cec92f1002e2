import Foundation
import NIOCore
import Testing

@testable import Proxy

/// What an operator is told of an upstream that does not serve.
@Suite struct UpstreamFaultTests {
    @Test("Causes have a word each, and the system's own text")
    func causes() throws {
        let refused = UpstreamFault(connecting: IOError(errnoCode: ECONNREFUSED, reason: "connect"))
        #expect(refused == UpstreamFault(reason: "upstream_refused", cause: "Connection refused"))
        #expect(UpstreamFault(connecting: IOError(errnoCode: ENOENT, reason: "x")).reason == "upstream_no_socket")
        #expect(UpstreamFault(connecting: ChannelError.connectTimeout(.seconds(1))) == .connectTimeout)
        #expect(UpstreamFault(closedBy: nil).reason == "upstream_closed")
        #expect(UpstreamFault(closedBy: IOError(errnoCode: ECONNRESET, reason: "x")).reason == "upstream_closed")
    }

    @Test(
        "What the gateway's own machine has run out of is not the upstream's fault",
        arguments: [(EMFILE, false), (ENFILE, false), (ENOBUFS, false), (EADDRNOTAVAIL, false), (ECONNREFUSED, true)])
    func blame(code: CInt, isUpstreams: Bool) {
        #expect(UpstreamFault(connecting: IOError(errnoCode: code, reason: "connect")).isUpstreams == isUpstreams)
    }

    @Test("Each cause of each upstream is told at once, and then once in ten seconds with the number of the others")
    func pace() throws {
        var pacer = UpstreamFaultPacer()
        let (a, b) = (try #require(UpstreamTarget("http://a:1")), try #require(UpstreamTarget("unix:/run/b.sock")))
        func told(_ target: UpstreamTarget, _ reason: String, _ now: Int64) -> Int? {
            pacer.countSinceLastLog(target, reason: reason, now: now)
        }
        #expect(told(a, "x", 1_000) == 0)
        #expect(told(a, "y", 1_000) == 0)
        #expect(told(b, "x", 1_000) == 0)
        for now in [1_000, 5_000, 10_999] as [Int64] { #expect(told(a, "x", now) == nil) }
        #expect(told(a, "x", 11_000) == 3)
        #expect(told(a, "x", 21_000) == 0)
        #expect(told(a, "x", 5_000) == 0, "a clock that was set back")
    }

    @Test("A place is host and port, without the rest of the URL")
    func places() {
        #expect(UpstreamTarget("https://orders.internal/base?key=1")?.place == "orders.internal:443")
        #expect(UpstreamTarget("http://[::1]:8080")?.place == "[::1]:8080")
        #expect(UpstreamTarget("unix:/run/x.sock")?.place == "unix:/run/x.sock")
    }
}
