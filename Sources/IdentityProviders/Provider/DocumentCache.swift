/// When a document of a provider is fetched, kept and asked for again: decisions alone, with the clock handed in.
struct DocumentCache<Document: Sendable>: Sendable {
    enum Decision {
        case use(Document)
        /// Fetch it and tell ``finished(_:now:)``; while a fetch is under way, wait for it.
        case fetch
        /// It failed a moment ago.
        case refuse(ProviderFault)
    }

    /// Milliseconds for which a document counts without being asked for again.
    static var freshness: Int64 { 3_600_000 }
    /// Milliseconds for which it counts if asking again fails.
    static var staleness: Int64 { 86_400_000 }
    /// Milliseconds between a failure and the next try.
    static var coolDown: Int64 { 1_000 }

    private var document: Document?
    private var confirmedAt: Int64?
    private var failure: (fault: ProviderFault, at: Int64)?

    /// Decides where the document comes from when it is needed.
    func decide(now: Int64) -> Decision {
        if let document, isWithin(Self.freshness, of: confirmedAt, now) { return .use(document) }
        guard let failure, isWithin(Self.coolDown, of: failure.at, now) else { return .fetch }
        if let document, isWithin(Self.staleness, of: confirmedAt, now) { return .use(document) }
        return .refuse(failure.fault)
    }

    /// Takes what a fetch brought.
    mutating func finished(_ fetched: Result<Document, ProviderFault>, now: Int64) {
        switch fetched {
        case .success(let fetched):
            document = fetched
            confirmedAt = now
            failure = nil
        case .failure(let fault): failure = (fault, now)
        }
    }

    /// The document that was fetched. If the fetch failed, the earlier one, while it is not older than ``staleness``.
    func latest(_ fetched: Result<Document, ProviderFault>, now: Int64) throws(ProviderFault) -> Document {
        if case .failure = fetched, let document, isWithin(Self.staleness, of: confirmedAt, now) { return document }
        return try fetched.get()
    }

    /// Whether less than `span` has passed since `time`. A time in the future, after the clock was set back, counts as
    /// too long ago.
    private func isWithin(_ span: Int64, of time: Int64?, _ now: Int64) -> Bool {
        guard let time else { return false }
        return now >= time && now - time < span
    }
}
