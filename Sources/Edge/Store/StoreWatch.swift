import Gate
import SecurityGuard
import StateSurface

/// Turns the age of the store's last sign of life into its health.
package enum StoreWatch {
    /// The feed beats every second. The store counts as silent after this time, so that one missed beat is no outage.
    static let silence = Duration.milliseconds(2_500)

    /// The store's health. A gap in the feed counts as silence until the revocations in it have been read. Costs no
    /// request to the store, so it may be called on every tick of a loop.
    ///
    /// - Parameter grace: `state.grace` in ms, counted from the last beat.
    package static func health(of state: any ChangeFeed, _ securityGuard: SecurityGuard, grace: Int64) -> StoreHealth {
        let gap = securityGuard.sinceRevocationGap
        let age = max(state.sinceLastBeat(), gap)
        if age <= silence, gap == .zero, !state.feedIsLost() { return .current }
        return age <= .milliseconds(grace) ? .silent : .lost
    }
}
