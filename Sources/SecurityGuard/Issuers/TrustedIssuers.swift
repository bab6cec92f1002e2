import Synchronization

/// The trusted issuers with their keys, as the configuration names them at the moment.
package final class TrustedIssuers: Sendable {
    /// An issuer and its keys.
    typealias Entry = (issuer: TrustedIssuer, keys: RemoteKeySet)

    private let entries: Mutex<[Entry]>
    private let own: String
    private let fetch: Fetch
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - own: the gateway's own `iss`.
    ///   - fetch: reads the key set of a remote issuer, with limits on time and size.
    /// - Throws: ``GuardError`` for an issuer that can't be used.
    init(
        _ issuers: [TrustedIssuer], own: String, fetch: @escaping Fetch, clock: @escaping @Sendable () -> Int64
    ) throws(GuardError) {
        self.own = own
        self.fetch = fetch
        self.clock = clock
        entries = Mutex(try Self.entries(issuers, own: own, fetch: fetch, clock: clock))
    }

    var all: [Entry] { entries.withLock { $0 } }

    /// Checks other issuers, and returns what takes them over.
    ///
    /// - Throws: ``GuardError`` for an issuer that can't be used; nothing has changed then.
    package func replacement(by issuers: [TrustedIssuer]) throws(GuardError) -> @Sendable () -> Void {
        let next = try Self.entries(issuers, own: own, fetch: fetch, clock: clock)
        return { [self] in entries.withLock { $0 = next } }
    }

    private static func entries(
        _ issuers: [TrustedIssuer], own: String, fetch: @escaping Fetch, clock: @escaping @Sendable () -> Int64
    ) throws(GuardError) -> [Entry] {
        var entries: [Entry] = []
        for issuer in issuers {
            try issuer.check()
            if issuer.atGate, sameBytes(issuer.issuer, own) {
                throw GuardError(.issuer, "issuer \(issuer.issuer) is the gateway itself: remove its at_gate")
            }
            if entries.contains(where: { sameBytes($0.issuer.issuer, issuer.issuer) }) {
                throw GuardError(.issuer, "issuer \(issuer.issuer) is listed twice")
            }
            let keys = try RemoteKeySet(issuer.keys, algorithms: issuer.algorithms, fetch: fetch, clock: clock)
            entries.append((issuer, keys))
        }
        return entries
    }
}
