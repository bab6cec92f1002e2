import JOSE

/// Reads a URL, with limits on size and time, and without following redirects.
package typealias Fetch = @Sendable (_ url: String) async throws -> [UInt8]

/// The keys of one issuer: fixed ones, or ones that are fetched and cached.
///
/// Tokens with unknown `kid`s cause at most one fetch per `coolDown`.
actor RemoteKeySet {
    static let coolDown: Int64 = 30_000
    static let freshness: Int64 = 600_000
    /// The time in milliseconds after which keys that could not be fetched again are no longer used.
    static let staleness: Int64 = 86_400_000

    private let source: TrustedIssuer.Keys
    private let algorithms: [SignatureAlgorithm]
    private let fetch: Fetch
    private let clock: @Sendable () -> Int64
    private var known: [VerificationKey] = []
    private var confirmedAt: Int64?
    private var triedAt: Int64?
    private var pending: Task<[VerificationKey]?, Never>?

    /// - Parameter algorithms: the algorithms that are accepted; keys for others are ignored.
    init(
        _ source: TrustedIssuer.Keys, algorithms: [SignatureAlgorithm], fetch: @escaping Fetch,
        clock: @escaping @Sendable () -> Int64
    ) throws(GuardError) {
        self.source = source
        self.algorithms = algorithms
        self.fetch = fetch
        self.clock = clock
        if case .inline(let bytes) = source {
            do {
                known = try JWKSet(parsing: bytes, policy: .local, algorithms: algorithms).keys
            } catch {
                throw GuardError(.issuer, "the key set of an issuer can't be used: \(error)", cause: error)
            }
        }
    }

    /// The keys that may have signed a token with this `kid`.
    func candidates(keyID: String?) async -> [VerificationKey] {
        if let read, mustFetch(keyID) { await refresh(read) }
        guard let keyID else { return known.count == 1 ? known : [] }
        guard keyID.utf8.count <= 128 else { return [] }
        return known.filter { sameBytes($0.keyID, keyID) }
    }

    private func mustFetch(_ keyID: String?) -> Bool {
        let isUnknown = keyID.map { id in !known.contains { sameBytes($0.keyID, id) } } ?? known.isEmpty
        // A fetch in progress is waited for, regardless of the cool-down.
        if pending != nil { return isUnknown }
        let now = clock()
        if let triedAt, now >= triedAt, now - triedAt < Self.coolDown { return false }
        guard let confirmedAt, now >= confirmedAt, now - confirmedAt < Self.freshness else { return true }
        return isUnknown
    }

    /// Fetches the keys again; nil for fixed ones.
    private var read: (@Sendable () async throws -> [UInt8])? {
        switch source {
        case .inline: return nil
        case .url(let url):
            let fetch = fetch
            return { try await fetch(url) }
        case .fetched(let read): return read
        }
    }

    private func refresh(_ read: @escaping @Sendable () async throws -> [UInt8]) async {
        let task: Task<[VerificationKey]?, Never>
        if let pending {
            task = pending
        } else {
            triedAt = clock()
            let algorithms = algorithms
            task = Task {
                guard let bytes = try? await read() else { return nil }
                return try? JWKSet(parsing: bytes, policy: .remote, algorithms: algorithms).keys
            }
            pending = task
        }
        let keys = await task.value
        if pending == task { pending = nil }
        if let keys {
            known = keys
            confirmedAt = clock()
        } else if let confirmedAt, clock() - confirmedAt > Self.staleness {
            known = []
        }
    }
}
