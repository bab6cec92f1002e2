extension UpstreamPool {
    /// The observers of what happens to upstreams.
    package struct Watch {
        /// Makes what is told, after each attempt to connect and each check, whether an upstream is up. It is made once
        /// for each upstream of a pool, so that finding the metric by its labels is not part of connecting.
        package var upReporter: (_ place: String) -> (_ isUp: Bool) -> Void
        /// An upstream has failed requests and is left alone for a while.
        package var ejected: (_ place: String) -> Void

        /// - Parameters:
        ///   - upReporter: makes the observer of one upstream, named by its place.
        ///   - ejected: is told of each ejection.
        package init(
            upReporter: @escaping (_ place: String) -> (_ isUp: Bool) -> Void,
            ejected: @escaping (_ place: String) -> Void
        ) {
            self.upReporter = upReporter
            self.ejected = ejected
        }
    }

    /// What a pool is made of besides its targets.
    package struct Supervision {
        /// What the route says of its upstreams.
        package var terms = UpstreamTerms()
        /// What all loops know of each target, in their order; empty for a pool that shares nothing.
        package var health: [SharedUpstreamHealth] = []
        /// Among how many event loops a limit of connections is divided.
        package var loops = 1
        /// Whether this loop makes the checks.
        package var makesChecks = false
        /// The observers; nil for none.
        package var watch: Watch?

        /// A pool that is not supervised, and shares nothing.
        package init() {}
    }
}
