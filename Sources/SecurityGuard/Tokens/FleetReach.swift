import StateSurface
import Synchronization

/// How far the tokens of all nodes reach, as the store knows it: another node may make longer ones than this one, or
/// have made some before its setting was changed.
///
/// What is read here can only widen what this node's own settings say, so a store that knows nothing narrows nothing.
final class FleetReach: Sendable {
    /// A reach that is not noted again is believed for this long.
    static let lease: Int64 = 600_000
    /// How often it is noted again.
    static let period: Int64 = 60_000

    private let own: TokenReach
    /// How long after its making a token of this node may still be accepted.
    private let ownReach: Int64
    private let state: any RevocationStore
    private let clock: @Sendable () -> Int64
    /// What is known, and how often it was heard from the feed.
    private let known: Mutex<(reach: TokenReach, hearings: UInt64)>
    /// When it was noted last.
    private let noted = Atomic<Int64>(.min)

    init(policy: TokenPolicy, state: any RevocationStore, clock: @escaping @Sendable () -> Int64) {
        own = TokenReach(lifetime: policy.accessTokenLifetime, clockSkew: policy.clockSkew)
        ownReach = policy.tokenReach
        known = Mutex((own, 0))
        self.state = state
        self.clock = clock
    }

    /// What covers the tokens of every node, this one's among them.
    var reach: TokenReach { known.withLock { $0.reach } }

    /// How long after its making any node's token may still be accepted somewhere.
    var tokenReach: Int64 {
        TokenPolicy.tokenReach(of: reach)
    }

    /// Tells the store of this node's tokens, then asks it for those of all.
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
            // What was heard while the store was being asked may be newer than its answer.
            let isQuiet = known.hearings == hearings
            known.reach = own.joined(with: isQuiet ? stored : stored.joined(with: known.reach))
        }
    }

    /// A node has told of its tokens.
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
