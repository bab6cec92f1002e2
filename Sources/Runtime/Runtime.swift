import Encodings
import Libcrypto
import StateSurface
import Synchronization
import TrafficCop

/// The roles of the store that the Runtime uses.
package typealias RuntimeStore = SessionStore & ExecutionStore & ArtifactStore & TicketStore & NodeStore & ChangeFeed

/// Sessions, and the intents that run in them. It is called only by the gateway, after the caller has been
/// authenticated.
///
/// - Creating, upgrading and ending sessions, in a caller's transaction or a separate one: `Runtime+changes.swift`.
/// - Reading sessions, and ending them: `Runtime+sessions.swift`.
/// - Permits for requests and sockets: `Runtime+admission.swift`.
/// - Agents and their intents: `Runtime+agents.swift`.
/// - Recurring work: `Runtime+upkeep.swift`.
package final class Runtime: Sendable {
    /// Sessions in memory, for the data plane.
    package let view: SessionView
    /// The settings for sessions, as they were at the start. Of how many sessions a user has at most, see
    /// ``sessionsPerUser``.
    package let policy: SessionPolicy
    let store: any RuntimeStore
    let trafficCop: TrafficCop
    let clock: @Sendable () -> Milliseconds
    /// The id of this node instance, unique for each run of the process.
    package let nodeID: String
    let keeper: SessionKeeper
    let uses: SessionUses
    let tickets: TicketBook
    let streams: EventStreams
    let runner: IntentRunner
    /// What ``limit(maxMessage:sessionsPerUser:)`` changes.
    private let limits: Mutex<Limits>
    let notices: Notices
    let running = Atomic<Int>(0)
    let audit: SessionAuditSink
    let familyEnded: @Sendable (_ familyID: String) -> Void
    private let subscription: Subscription

    /// - Parameters:
    ///   - realms: realms in addition to the built-in ones.
    ///   - nodeID: the id of this node instance, unique for each run of the process.
    ///   - pendingUses: of how many sessions a use may wait to be written.
    ///   - familyEnded: called for a family that has ended because its home was found to have expired. Its tokens are
    ///     revoked by the store's feed.
    package init(
        state: any RuntimeStore, trafficCop: TrafficCop, policy: SessionPolicy = SessionPolicy(),
        realms: [any Realm] = [],
        clock: @escaping @Sendable () -> Milliseconds, nodeID: String = Runtime.makeNodeID(),
        agentLimits: AgentLimits = AgentLimits(), pendingUses: Int = 200_000,
        audit: @escaping SessionAuditSink = { _ in },
        familyEnded: @escaping @Sendable (_ familyID: String) -> Void = { _ in }
    ) {
        let view = SessionView()
        let uses = SessionUses(capacity: pendingUses)
        let streams = EventStreams(store: state)
        let notices = Notices()
        self.view = view
        self.policy = policy
        self.store = state
        self.trafficCop = trafficCop
        self.clock = clock
        self.nodeID = nodeID
        self.uses = uses
        self.streams = streams
        self.limits = Mutex(Limits(agent: agentLimits, sessionsPerUser: policy.perUser))
        self.notices = notices
        self.audit = audit
        self.familyEnded = familyEnded
        self.tickets = TicketBook(store: state, nodeID: nodeID, clockSkew: policy.clockSkew)
        self.keeper = SessionKeeper(
            store: state, lifecycle: SessionLifecycle(policy: policy), uses: uses, clock: clock,
            expired: { record, families in
                audit(SessionAudit(.expired, SessionSnapshot(record)))
                Self.report(families, to: audit, familyEnded)
            })
        self.runner = IntentRunner(
            store: state, realms: Self.builtInRealms + realms, uses: uses, nodeID: nodeID, limits: agentLimits,
            clock: clock)
        self.subscription = state.subscribe { change in
            Self.heard(change, view: view, streams: streams, notices: notices)
        }
    }

    /// Settings that a reload may change.
    private struct Limits {
        var agent: AgentLimits
        var sessionsPerUser: Int
    }

    /// The limits for an agent that connects, or an intent that comes, now.
    var agentLimits: AgentLimits { limits.withLock { $0.agent } }

    /// How many live sessions a user may have. One more ends the oldest.
    package var sessionsPerUser: Int { limits.withLock { $0.sessionsPerUser } }

    /// Changes limits from now on. Agents that are connected keep theirs, and no session ends before its user opens
    /// another one.
    ///
    /// - Parameters:
    ///   - maxMessage: the longest message of an agent, in bytes.
    ///   - sessionsPerUser: the number of live sessions that a user may have.
    package func limit(maxMessage: Int, sessionsPerUser: Int) {
        limits.withLock { limits in
            limits.agent.maxMessage = maxMessage
            limits.sessionsPerUser = sessionsPerUser
        }
    }

    deinit {
        subscription.cancel()
    }

    /// `echo`, `session.describe` and the artifacts.
    package static let builtInRealms: [any Realm] = [EchoRealm(), SessionRealm(), ArtifactRealm()]

    /// A new id for a node instance.
    package static func makeNodeID() -> String {
        "node_" + Base64URL.encode(SecureRandom.bytes(16))
    }

    /// Calls `observer` for everything that may end a permit. It must not block. The memory of sessions is up to date
    /// when it is called.
    package func observe(_ observer: @escaping @Sendable (SessionNotice) -> Void) -> NoticeSubscription {
        notices.add(observer)
    }

    private static func heard(_ change: Change, view: SessionView, streams: EventStreams, notices: Notices) {
        switch change {
        case .session(let id, let state, let epoch):
            view.forget(id: id)
            notices.notify(.changed(sessionID: id, state: SessionState(state), epoch: epoch))
        case .events(let sessionID, let lastSeq):
            streams.streamGrew(sessionID: sessionID, to: lastSeq)
        case .reset:
            view.forgetAll()
            notices.notify(.reset)
            Task { await streams.catchUp() }
        case .sessionExtended, .familyEnded, .familyRefreshed, .revoked, .account, .tokenReach, .protocolSessionEnded:
            break
        }
    }
}
