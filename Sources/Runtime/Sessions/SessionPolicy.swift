import StateSurface

/// The settings for sessions. Times are in milliseconds.
package struct SessionPolicy: Sendable, Equatable {
    /// How long an anonymous session may be unused.
    package var anonymousIdle: Milliseconds
    /// The longest lifetime of an anonymous session.
    package var anonymousLifetime: Milliseconds
    /// How long an authenticated session may be unused.
    package var idle: Milliseconds
    /// The longest lifetime of an authenticated session.
    package var lifetime: Milliseconds
    /// The longest serialised metadata, in bytes.
    package var metadataLimit: Int
    /// How long the previous secret may repeat the same upgrade.
    package var repeatWindow: Milliseconds
    /// The number of live sessions that a user may have.
    package var perUser: Int
    /// The tolerance for other nodes' clocks.
    package var clockSkew: Milliseconds

    package init(
        anonymousIdle: Milliseconds = 30 * 60_000, anonymousLifetime: Milliseconds = 24 * 3_600_000,
        idle: Milliseconds = 12 * 3_600_000, lifetime: Milliseconds = 30 * 86_400_000, metadataLimit: Int = 1_024,
        repeatWindow: Milliseconds = 10_000, perUser: Int = 1_000, clockSkew: Milliseconds = 30_000
    ) {
        self.anonymousIdle = anonymousIdle
        self.anonymousLifetime = anonymousLifetime
        self.idle = idle
        self.lifetime = lifetime
        self.metadataLimit = metadataLimit
        self.repeatWindow = repeatWindow
        self.perUser = perUser
        self.clockSkew = clockSkew
    }

    /// The interval at which uses are written, so that no session in use is found idle by another node.
    var flushInterval: Milliseconds {
        max(250, min(30_000, min(idle, anonymousIdle) / 4))
    }
}
