import Gate
import SecurityGuard
import StateSurface

/// How the age of the store's last sign of life is to be taken.
package enum StoreWatch {
    /// The feed beats each second; one missed beat is no loss.
    static let silence = Duration.milliseconds(2_500)

    /// A gap in the feed counts as silence until the revocations it may have hidden have been read.
    package static func health(of state: any ChangeFeed, _ securityGuard: SecurityGuard, grace: Int64) -> StoreHealth {
        let gap = securityGuard.sinceRevocationGap
        let age = max(state.sinceLastBeat(), gap)
        if age <= silence, gap == .zero, !state.feedIsLost() { return .current }
        return age <= .milliseconds(grace) ? .silent : .lost
    }
}
