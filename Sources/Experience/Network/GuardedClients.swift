import AsyncHTTPClient
import IdentityProviders
import NIOCore
import NIOSSL

/// HTTP clients that each know one address of one host. AsyncHTTPClient connects where its `dnsOverride` says, and that
/// is a setting of a client. More than ``limit`` of them are kept only while they are in use.
actor GuardedClients {
    /// A client that is in use until it is given back. Several requests may use the same one at a time.
    struct Lent: Sendable {
        let client: HTTPClient
        fileprivate let key: Key
    }

    fileprivate struct Key: Hashable, Sendable {
        /// A name in lower case, or an address; see `EndpointURL`.
        let host: String
        let address: String
    }

    private struct Entry {
        let client: HTTPClient
        var uses: Int
        var lastUse: UInt64
    }

    /// The most clients that are kept while they are unused.
    static let limit = 32

    private let tls: TLSConfiguration
    private var entries: [Key: Entry] = [:]
    private var turn: UInt64 = 0
    private var isStopped = false

    init(tls: TLSConfiguration) { self.tls = tls }

    /// The client for an address; nil after ``shutdown()``. It has to be given back, once.
    ///
    /// - Parameter host: as the URL writes it; TLS verifies this name.
    /// - Parameter address: has been judged by the caller.
    func borrow(host: String, address: IPAddress) -> Lent? {
        guard !isStopped else { return nil }
        turn += 1
        let key = Key(host: host, address: address.text)
        var entry = entries[key] ?? Entry(client: makeClient(key), uses: 0, lastUse: turn)
        entry.uses += 1
        entry.lastUse = turn
        entries[key] = entry
        return Lent(client: entry.client, key: key)
    }

    /// Closes clients that are unused where there are more than ``limit``, and waits until they are closed.
    func giveBack(_ lent: Lent) async {
        if entries[lent.key]?.client === lent.client { entries[lent.key]?.uses -= 1 }
        if isStopped { return await close(entries.count) }
        if entries.count > Self.limit { await close(entries.count - Self.limit) }
    }

    /// Closes what is unused now, and the rest when it is given back.
    func shutdown() async {
        isStopped = true
        await close(entries.count)
    }

    /// Closes at most so many unused clients, the longest unused first. They are taken out before any of them is
    /// closed, so that no other call meets them meanwhile.
    private func close(_ count: Int) async {
        let unused = entries.filter { $0.value.uses == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(count)
        for (key, _) in unused { entries[key] = nil }
        for (_, entry) in unused { try? await entry.client.shutdown() }
    }

    private func makeClient(_ key: Key) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(3), read: .seconds(10)))
        configuration.httpVersion = .http1Only
        configuration.dnsOverride = [key.host: key.address]
        // Shorter than servers keep idle connections, so that a request seldom meets one that is being closed.
        configuration.connectionPool.idleTimeout = .seconds(2)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        // Another address is tried by the caller, at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A tracer of the process would be told the whole URL, which may hold a secret.
        configuration.tracing.tracer = nil
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
