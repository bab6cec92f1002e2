import Encodings
import JOSE
import StateSurface
import Synchronization

/// The roles of the store that SecurityGuard uses.
package typealias GuardStore = AccountStore & ClientStore & FamilyStore & RevocationStore & KeyRegistry & ChangeFeed

/// Authentication: keys, tokens, revocations, accounts, refresh families and trusted issuers.
///
/// It neither reads nor writes sessions. It uses only their ids: a family has the id of its home session, and
/// operations that end families return the ids of the sessions that ended with them.
///
/// The data plane (``judge(token:)``, ``isRevoked(_:)``, ``signAssertion(_:audience:)``) is
/// synchronous and safe on any thread. Everything that uses the store is `async`.
package final class SecurityGuard: Sendable {
    /// The settings for tokens and accounts.
    package let policy: TokenPolicy
    /// The directory of signing keys.
    package let keyDirectory: KeyDirectory
    let state: any GuardStore
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    let keys: KeyRingHolder
    let issuer: TokenIssuer
    let verifier: TokenVerifier
    let assertions: AssertionIssuer
    let reach: FleetReach
    let revocations: Revocations
    let feed: RevocationFeed
    /// The accounts.
    package let accounts: Accounts
    /// What upstreams are told of accounts, in memory.
    package let profiles: CallerProfiles
    /// The OAuth clients.
    package let clients: Clients
    let families: RefreshFamilies
    let exchanges: TokenExchange
    /// The issuers whose tokens are exchanged.
    package let trustedIssuers: TrustedIssuers
    /// The protected resources that tokens may be for.
    package let resources: ResourceNames
    /// Tokens of other issuers that are accepted at the gate.
    package let foreignTokens: ForeignTokens
    let watch: KeyWatch
    private let sharesStore: Bool

    /// - Parameters:
    ///   - sharesStore: whether nodes on other machines may use this store. They must then have the same keys.
    ///   - fetch: reads the key set of a remote issuer, with limits on time and size.
    /// - Throws: ``GuardError`` for keys or settings that cannot be used, or the store's error.
    package init(
        policy: TokenPolicy, keyDirectory: KeyDirectory, state: any GuardStore, issuers: [TrustedIssuer] = [],
        sharesStore: Bool = false, fetch: @escaping Fetch = SecurityGuard.noFetch,
        clock: @escaping @Sendable () -> Int64, audit: @escaping AuditSink = { _ in }
    ) async throws {
        try policy.check()
        // Read before the keys, because a key is needed as long as any node's tokens signed with it are valid.
        let reach = FleetReach(policy: policy, state: state, clock: clock)
        try await reach.note()
        let keyDirectory = keyDirectory.reaching { reach.tokenReach }
        let stamp = keyDirectory.stamp()
        let contents = try await Self.keys(from: keyDirectory, state: state, sharesStore: sharesStore)
        let keys = KeyRingHolder(try KeyRing(contents, generation: 1))
        self.policy = policy
        self.keyDirectory = keyDirectory
        self.state = state
        self.clock = clock
        self.audit = audit
        self.sharesStore = sharesStore
        self.keys = keys
        watch = KeyWatch(keyDirectory, keys, stamp: stamp, clock: clock)
        issuer = TokenIssuer(policy: policy, keys: keys)
        let resources = ResourceNames(policy.resources, foreign: policy.foreignResources)
        self.resources = resources
        verifier = TokenVerifier(policy: policy, keys: keys, reach: reach, resources: resources)
        assertions = AssertionIssuer(issuer: policy.issuer, keys: keys)
        self.reach = reach
        revocations = Revocations()
        feed = RevocationFeed(revocations, state: state, reach: reach, clock: clock)
        accounts = Accounts(state: state, policy: policy, clock: clock, audit: audit)
        profiles = CallerProfiles(state: state)
        clients = Clients(state: state, clock: clock, audit: audit)
        families = RefreshFamilies(
            state: state, policy: policy, issuer: issuer, revocations: revocations, clock: clock, audit: audit)
        let trustedIssuers = try TrustedIssuers(issuers, own: policy.issuer, fetch: fetch, clock: clock)
        self.trustedIssuers = trustedIssuers
        exchanges = TokenExchange(
            trusted: trustedIssuers, resources: resources, state: state, policy: policy,
            tokens: issuer, clock: clock, audit: audit)
        foreignTokens = ForeignTokens(exchanges, revocations)
        profiles.start()
        try await feed.start()
        try await registerKeys()
    }

    /// A fetch that always fails, for a gateway without remote issuers.
    package static let noFetch: Fetch = { _ in throw GuardError(.issuer, "no way to fetch a remote key set was given") }

    /// Loads the keys. A node of a shared store that has none of the registered keys must neither start nor make its
    /// own.
    private static func keys(
        from directory: KeyDirectory, state: any KeyRegistry, sharesStore: Bool
    ) async throws -> KeyDirectory.Contents {
        guard sharesStore else { return try directory.loadOrCreate() }
        let registered = try await state.registeredKeys()
        if registered.isEmpty { return try directory.loadOrCreate() }
        let contents = try directory.load()
        guard let contents, contents.plan.keys.contains(where: { registered.contains($0.entry.keyID) }) else {
            throw foreignKeys(in: directory)
        }
        return contents
    }

    private static func foreignKeys(in directory: KeyDirectory) -> GuardError {
        GuardError(
            .foreignKeys,
            "\(directory.path) holds none of the keys that the other nodes of this store sign with; "
                + "copy their keys directory here")
    }

    /// Registers the active key in the store. Of two nodes that made different keys at the same time, one fails here.
    func registerKeys() async throws {
        let ring = keys.ring
        let isRegistered = try await state.register(
            signingKey: ring.signingKey.verificationKey.keyID, held: ring.knownKeyIDs,
            superseded: ring.supersededKeyIDs)
        if sharesStore, !isRegistered { throw Self.foreignKeys(in: keyDirectory) }
    }
}

// MARK: Keys that change while it runs
extension SecurityGuard {
    /// The present time, in milliseconds since the Unix epoch.
    package var now: Int64 { clock() }
    /// The current keys.
    package var keyRing: KeyRing { keys.ring }
    /// A counter that changes with the keys. Reading it is one atomic read.
    package var keyGeneration: UInt64 { keys.currentGeneration }

    /// Reads the key directory again. If a file can't be read, its key stays as it is, all other changes are applied,
    /// and the fault is thrown.
    package func reload() async throws {
        let result: (isNew: Bool, fault: GuardError?)
        do throws(GuardError) {
            result = try watch.reload()
        } catch {
            audit(AuditEvent(.keysRefused, reason: error.code.rawValue))
            throw error
        }
        if result.isNew {
            audit(AuditEvent(.keysChanged))
            try await registerKeys()
        }
        if let fault = result.fault {
            audit(AuditEvent(.keysRefused, reason: fault.code.rawValue))
            throw fault
        }
    }

    /// Records this node's token lifetimes in the store at intervals. Failures of the store are ignored until the next
    /// time.
    private func keepReachNoted() async {
        while !Task.isCancelled {
            if reach.isDue { try? await reach.note() }
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        }
    }

    /// Applies changes of the key directory and removes expired revocations, until it is cancelled.
    ///
    /// - Parameter report: called for a directory that can't be used, once for each reason.
    package func run(report: @escaping @Sendable (any Error) -> Void = { _ in }) async {
        async let reachNoted: Void = keepReachNoted()
        await followKeys(report: report)
        await reachNoted
    }

    private func followKeys(report: @escaping @Sendable (any Error) -> Void) async {
        var lastPrune = clock()
        var reported = ""
        while !Task.isCancelled {
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
            if watch.isDue() {
                do {
                    try await reload()
                    reported = ""
                } catch {
                    // A change of several files may be seen half done, so the same fault may be reported once and
                    // disappear.
                    let reason = "\(error)"
                    if reason != reported { report(error) }
                    reported = reason
                }
            }
            let now = clock()
            if now - lastPrune >= 60_000 || now < lastPrune {
                await revocations.prune(now: now)
                lastPrune = now
            }
        }
    }
}
