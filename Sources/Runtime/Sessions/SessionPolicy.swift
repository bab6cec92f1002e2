import StateSurface

/// How long sessions live, and how large what they carry may be.
package struct SessionPolicy: Sendable, Equatable {
    package var anonymousIdle: Milliseconds
    package var anonymousLifetime: Milliseconds
    package var idle: Milliseconds
    package var lifetime: Milliseconds
    /// Longest serialized metadata, in bytes.
    package var metadataLimit: Int
    /// How long the secret before the current one may repeat the very same upgrade.
    package var repeatWindow: Milliseconds
    /// How many live sessions a user may have.
    package var perUser: Int
    /// By how much the clocks of nodes may differ.
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

    /// How often uses must be written down so that no session in use looks idle to another node.
    var flushInterval: Milliseconds {
        max(250, min(30_000, min(self.idle, self.anonymousIdle) / 4))
    }
}
