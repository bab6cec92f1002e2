import Caching
import StateSurface
import Synchronization

/// The profiles of accounts in memory, for all event loops. The change feed keeps them up to date.
///
/// An event loop keeps what it has found here for as long as the account's ``ChangeCount`` stays the same, so that a
/// request takes no lock.
package final class CallerProfiles: Sendable {
    /// What memory knows of an account.
    package enum Known: Sendable {
        /// The profile is as the store has it.
        case current(CallerProfile)
        /// The profile was read before the feed was interrupted, and may have changed since.
        case doubtful(CallerProfile)
        /// The account has to be read from the store.
        case unknown
    }

    private struct Table {
        var profiles: BoundedCache<String, (profile: CallerProfile, interruption: UInt64)>
        /// The numbers of the reads that are in progress, by user. One that a change has overtaken is not among them.
        var readings: [String: UInt64] = [:]
        var readingCount: UInt64 = 0
        /// The calls that wait for a read that another has begun, by its number.
        var waiting: [UInt64: [Waiting]] = [:]
        /// How often the feed was interrupted.
        var interruptions: UInt64 = 0

        /// Begins a read. Returns its number, or nil if there is one already.
        mutating func begin(_ userID: String) -> UInt64? {
            guard readings[userID] == nil else { return nil }
            readingCount &+= 1
            readings[userID] = readingCount
            return readingCount
        }
    }

    /// What a call for an account has to do.
    private enum Turn {
        /// Read it, under this number.
        case read(UInt64)
        /// Nothing: a call before it has.
        case found(CallerProfile)
    }

    private typealias Waiting = CheckedContinuation<Turn, any Error>

    private let state: any AccountStore & ChangeFeed
    private let table: Mutex<Table>
    /// Each counts the changes of a share of the accounts, so that one account's change makes the event loops look up
    /// few others again.
    private let changes = (0..<CallerProfiles.shares).map { _ in ChangeCount() }
    private static let shares = 1024
    private let subscription = Mutex<Subscription?>(nil)

    /// - Parameter byteLimit: the limit on the memory of all profiles, in bytes.
    init(state: any AccountStore & ChangeFeed, byteLimit: Int = 64 << 20) {
        self.state = state
        table = Mutex(Table(profiles: BoundedCache(capacity: byteLimit)))
    }

    deinit { subscription.withLock { $0?.cancel() } }

    /// Subscribes to the feed.
    func start() {
        let subscription = state.subscribe { [weak self] in self?.heard($0) }
        self.subscription.withLock { $0 = subscription }
    }

    /// The counter that moves whenever the profile of this account may have become outdated.
    package func changes(of userID: String) -> ChangeCount {
        changes[Int(userID.hashValue.magnitude % UInt(Self.shares))]
    }

    /// What memory knows of an account.
    package func known(_ userID: String) -> Known {
        table.withLock { table in
            guard let entry = table.profiles.value(for: userID) else { return .unknown }
            return entry.interruption == table.interruptions ? .current(entry.profile) : .doubtful(entry.profile)
        }
    }

    /// Reads an account from the store. Concurrent calls for one account share one read, that of the first.
    ///
    /// - Returns: an empty profile if there is no such account.
    /// - Throws: the store's error.
    package func load(_ userID: String) async throws -> CallerProfile {
        let number: UInt64
        switch try await turn(for: userID) {
        case .found(let profile): return profile
        case .read(let own): number = own
        }
        let result: Result<CallerProfile, any Error>
        do {
            let profile = try await state.account(userID: userID).map(CallerProfile.init)
            result = .success(profile ?? CallerProfile(unknown: userID))
        } catch {
            result = .failure(error)
        }
        for waiting in finish(number, of: userID, result) { waiting.resume(with: result.map(Turn.found)) }
        return try result.get()
    }

    /// Reads several accounts from the store at once, for calls that are about to ask for them: these find the profiles
    /// in memory, or wait for this read. Accounts that are being read already are left out.
    package func load(contentsOf userIDs: [String]) async {
        let reads = table.withLock { table in
            userIDs.compactMap { userID in table.begin(userID).map { (userID: userID, number: $0) } }
        }
        guard !reads.isEmpty else { return }
        let result: Result<[String: CallerProfile], any Error>
        do {
            let accounts = try await state.accounts(userIDs: reads.map { $0.userID })
            result = .success(
                Dictionary(accounts.map { ($0.userID, CallerProfile($0)) }, uniquingKeysWith: { first, _ in first }))
        } catch {
            result = .failure(error)
        }
        for (userID, number) in reads {
            let profile = result.map { $0[userID] ?? CallerProfile(unknown: userID) }
            for waiting in finish(number, of: userID, profile) { waiting.resume(with: profile.map(Turn.found)) }
        }
    }

    /// Waits for the read that a call before has begun, or else begins one.
    private func turn(for userID: String) async throws -> Turn {
        try await withCheckedThrowingContinuation { (continuation: Waiting) in
            let own: UInt64? = table.withLock { table in
                if let reading = table.readings[userID] {
                    table.waiting[reading, default: []].append(continuation)
                    return nil
                }
                return table.begin(userID)
            }
            if let own { continuation.resume(returning: .read(own)) }
        }
    }

    /// Ends a read, and keeps what it has found unless a change has overtaken it: that may be newer than the store's
    /// answer.
    ///
    /// - Returns: the calls that wait for the result.
    private func finish(
        _ number: UInt64, of userID: String, _ result: Result<CallerProfile, any Error>
    ) -> [Waiting] {
        table.withLock { table in
            if table.readings[userID] == number {
                table.readings[userID] = nil
                if case .success(let found) = result {
                    table.profiles.insert((found, table.interruptions), for: userID, weight: found.weight)
                }
            }
            return table.waiting.removeValue(forKey: number) ?? []
        }
    }

    private func heard(_ change: Change) {
        switch change {
        case .account(let userID):
            table.withLock { table in
                table.readings[userID] = nil
                _ = table.profiles.remove(userID)
            }
            // Also of an account that is not in this table: an event loop may remember it for longer.
            changes(of: userID).move()
        case .reset:
            table.withLock { table in
                table.readings = [:]
                table.interruptions &+= 1
            }
            for count in changes { count.move() }
        case .session, .sessionExtended, .familyEnded, .familyRefreshed, .revoked, .tokenReach, .events,
            .protocolSessionEnded:
            break
        }
    }
}
