import Foundation
import Synchronization

/// The machine's clock plus what a test has added: hours pass in no time.
///
/// It does not stand still, since the gateway's timers go by the machine's time.
package final class ManualClock: Sendable {
    private let ahead = Atomic<Int64>(0)

    package init() {}

    /// Milliseconds since the Unix epoch, as the gateway sees them.
    package var now: Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000) + ahead.load(ordering: .sequentiallyConsistent)
    }

    /// Lets time pass for the gateway.
    package func advance(by duration: Duration) {
        ahead.add(Int64(duration / .milliseconds(1)), ordering: .sequentiallyConsistent)
    }
}
