import AuthorizationServer
import Caching
import Encodings
import IdentityProviders

/// The metadata documents of clients, fetched when they are needed and kept as long as their header fields say, within
/// bounds. Concurrent requests for one document share one fetch.
actor ClientDocuments {
    /// How long a failure is remembered, in milliseconds.
    private static let failureMemory: Int64 = 10_000
    /// The most documents that are kept.
    private static let capacity = 2_048
    /// The most documents that are fetched at the same time.
    private static let maximumFetches = 32

    private let fetch: DocumentFetch
    private let clock: @Sendable () -> Int64
    private var known: BoundedCache<String, Result<AuthorizationClient, ClientMetadataDocument.Fault>>
    private var underWay: [String: Task<Result<AuthorizationClient, ClientMetadataDocument.Fault>, Never>] = [:]

    init(fetch: @escaping DocumentFetch, clock: @escaping @Sendable () -> Int64) {
        self.fetch = fetch
        self.clock = clock
        known = BoundedCache(capacity: Self.capacity)
    }

    /// The client, if its document is in memory.
    func remembered(_ url: EndpointURL) -> Result<AuthorizationClient, ClientMetadataDocument.Fault>? {
        known.value(for: url.text, at: clock())
    }

    /// The client, from its document.
    func client(_ url: EndpointURL) async -> Result<AuthorizationClient, ClientMetadataDocument.Fault> {
        if let known = remembered(url) { return known }
        if let task = underWay[url.text] { return await task.value }
        guard underWay.count < Self.maximumFetches else { return .failure(.unreachable) }
        let task = Task { [fetch] in self.keep(url, try? await fetch(url)) }
        underWay[url.text] = task
        return await task.value
    }

    private func keep(
        _ url: EndpointURL, _ document: FetchedDocument?
    ) -> Result<AuthorizationClient, ClientMetadataDocument.Fault> {
        underWay[url.text] = nil
        let now = clock()
        guard let document, document.isJSON else {
            known.insert(.failure(.unreachable), for: url.text, until: now &+ Self.failureMemory)
            return .failure(.unreachable)
        }
        do throws(ClientMetadataDocument.Fault) {
            let client = try ClientMetadataDocument.client(id: url, body: document.body)
            let freshness = ClientMetadataDocument.freshness(cacheControl: document.cacheControl)
            known.insert(.success(client), for: url.text, until: now &+ freshness)
            return .success(client)
        } catch {
            known.insert(.failure(error), for: url.text, until: now &+ Self.failureMemory)
            return .failure(error)
        }
    }
}
