import JOSE

/// When the key set of a provider is fetched, kept and forgotten: decisions alone, with the clock handed in.
///
/// A provider rotates its keys when it likes, so an unknown `kid` is a reason to ask again, once. Tokens that callers
/// hand in can cause at most one fetch per ``callerCoolDown``, however many `kid`s they invent; tokens that the
/// provider itself answered with may cause one per ``providerCoolDown``.
package struct KeySetCache: Sendable {
    /// Where the token came from whose key is looked for.
    package enum Source: Sendable {
        /// From the token endpoint, in answer to our request.
        case provider
        /// From a caller: a subject token, a logout token, a token at the gate.
        case caller
    }

    /// What to do about a key.
    package enum Decision: Sendable {
        case use(VerificationKey)
        /// Fetch the key set, tell ``finished(_:now:)``, and ask again. While a fetch is under way, wait for it.
        case fetch
        case refuse(TokenRefusal)
    }

    /// Milliseconds between fetches that strangers cause.
    package static let callerCoolDown: Int64 = 30_000
    /// Milliseconds between fetches that answers of the provider cause.
    package static let providerCoolDown: Int64 = 1_000
    /// Milliseconds after which the set is fetched again though nothing is missing.
    package static let freshness: Int64 = 600_000
    /// Milliseconds after which keys that could not be confirmed are no longer believed.
    package static let staleness: Int64 = 86_400_000

    private var keys: JWKSet?
    private var confirmedAt: Int64?
    private var triedAt: Int64?
    private var isFetching = false

    /// Creates a cache that knows no keys.
    package init() {}

    /// Decides about the key that a token's header points to.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func decide(_ header: ProtectedHeader, from source: Source, now: Int64) -> Decision {
        forgetStale(now)
        let found: Result<VerificationKey, TokenRefusal> =
            keys?.key(for: header) ?? .failure(TokenRefusal(.keyUnknown, "no key set could be fetched"))
        let isFresh = confirmedAt.map { now >= $0 && now - $0 < Self.freshness } ?? false
        if case .success(let key) = found, isFresh { return .use(key) }
        if isFetching || mayFetch(source, now) {
            if !isFetching {
                isFetching = true
                triedAt = now
            }
            return .fetch
        }
        switch found {
        case .success(let key): return .use(key)
        case .failure(let refusal): return .refuse(refusal)
        }
    }

    /// Takes what a fetch brought; nil for one that failed, after which what is known stays.
    package mutating func finished(_ fetched: JWKSet?, now: Int64) {
        isFetching = false
        triedAt = now
        guard let fetched else { return forgetStale(now) }
        keys = fetched
        confirmedAt = now
    }

    /// A clock that was set back counts as a long time, so that it can't stop fetching.
    private func mayFetch(_ source: Source, _ now: Int64) -> Bool {
        guard let triedAt, now >= triedAt else { return true }
        return now - triedAt >= (source == .provider ? Self.providerCoolDown : Self.callerCoolDown)
    }

    private mutating func forgetStale(_ now: Int64) {
        guard let confirmedAt, now >= confirmedAt, now - confirmedAt > Self.staleness else { return }
        keys = nil
    }
}

extension JWKSet {
    /// Judges a fetched key set.
    ///
    /// - Parameter algorithms: what the keys may be used for; the first that fits is a key's that does not say.
    package init(_ answer: ProviderAnswer, algorithms: [SignatureAlgorithm]) throws(ProviderFault) {
        guard answer.status == 200 else {
            throw ProviderFault(.statusUnexpected, "the key set was answered with status \(answer.status)")
        }
        guard answer.body.count <= ProviderRequest.maximumAnswerBytes else {
            throw ProviderFault(.tooLarge, "the key set is longer than \(ProviderRequest.maximumAnswerBytes) bytes")
        }
        guard answer.isJSON || answer.isOfType("application/jwk-set+json") else {
            throw ProviderFault(.contentTypeUnexpected, "the key set is not JSON by its media type")
        }
        do throws(JOSEError) {
            try self.init(parsing: answer.body, policy: .remote, algorithms: algorithms)
        } catch {
            throw ProviderFault(.keySetRefused, "the key set can't be used: \(error)")
        }
    }
}
