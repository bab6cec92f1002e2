import StateSurface
import Synchronization

/// The reach of the tokens of all nodes, from the store. Other nodes may issue tokens with a longer lifetime, or may
/// have done so before their settings changed.
///
/// It is never less than that of this node's own settings.
final class FleetReach: Sendable {
    /// How long a recorded reach is valid, in milliseconds.
    static let lease: Int64 = 600_000
    /// The interval in milliseconds at which it is recorded again.
    static let period: Int64 = 60_000

    private let own: TokenReach
    /// How long after its issue a token of this node may be accepted, in milliseconds.
    private let ownReach: Int64
    private let state: any RevocationStore
    private let clock: @Sendable () -> Int64
    /// The known reach, and how many reports came from the feed.
    private let known: Mutex<(reach: TokenReach, hearings: UInt64)>
    /// When it was last recorded.
    private let noted = Atomic<Int64>(.min)

    init(policy: TokenPolicy, state: any RevocationStore, clock: @escaping @Sendable () -> Int64) {
        own = TokenReach(lifetime: policy.accessTokenLifetime, clockSkew: policy.clockSkew)
        ownReach = policy.tokenReach
        known = Mutex((own, 0))
        self.state = state
        self.clock = clock
    }

    /// The reach that covers the tokens of all nodes, including this one.
    var reach: TokenReach { known.withLock { $0.reach } }

    /// How long after its issue any node's token may be accepted, in milliseconds.
    var tokenReach: Int64 {
        TokenPolicy.tokenReach(of: reach)
    }

    /// Records this node's reach in the store, then reads that of all nodes.
    func note() async throws {
        let now = clock()
        let end = now.addingReportingOverflow(ownReach + Self.lease)
        try await state.note(reach: own, goodUntil: end.overflow ? .max : end.partialValue)
        try await load()
        noted.store(now, ordering: .relaxed)
    }

    func load() async throws {
        let hearings = known.withLock { $0.hearings }
        let stored = try await state.tokenReach(now: clock()) ?? own
        known.withLock { known in
            // A report that arrived in the meantime may be newer than the store's answer.
            let isQuiet = known.hearings == hearings
            known.reach = own.joined(with: isQuiet ? stored : stored.joined(with: known.reach))
        }
    }

    /// Processes a report of the feed.
    func heard(_ reach: TokenReach) {
        known.withLock { known in
            known.reach = known.reach.joined(with: reach)
            known.hearings &+= 1
        }
    }

    var isDue: Bool {
        let last = noted.load(ordering: .relaxed)
        let now = clock()
        let age = now.subtractingReportingOverflow(last)
        return age.overflow || age.partialValue >= Self.period || now < last
    }
}
