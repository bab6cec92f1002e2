import JOSE
import SecurityGuard

/// The keys of `token verify`, for each algorithm that may be used with them.
///
/// A key without `alg` is bound to the algorithm given on the command line. If several were given, the token's header
/// chooses among these, and no others.
struct TokenKeyring {
    /// The keys for tokens that name any other algorithm.
    let usual: TokenKeys
    /// The keys bound to each algorithm of the command line; empty where it names none.
    private(set) var byAlgorithm: [SignatureAlgorithm: TokenKeys]

    /// Reads a key file: PEM, DER, JWK or JWKS.
    ///
    /// - Parameter passphrase: the passphrase of an encrypted private key.
    init(
        keyFile path: String, algorithms: [SignatureAlgorithm], passphrase: KeyPassphrase? = nil
    ) throws(CommandFailure) {
        let bytes = try TokenKeys.contents(path)
        func read(_ algorithms: [SignatureAlgorithm]) throws(JOSEError) -> TokenKeys {
            try TokenKeys(file: bytes, algorithms: algorithms, passphrase: passphrase)
        }
        var keys = try TokenKeys.usable(path, passphrase: passphrase) { () throws(JOSEError) in
            try TokenKeyring(algorithms: algorithms, read: read)
        }
        // An Ed25519 key without `alg` is used under both names of its algorithm (RFC 8037, RFC 9864).
        if algorithms.isEmpty { keys.byAlgorithm[.eddsa] = try? read([.eddsa]) }
        self = keys
    }

    /// Reads a key set from a file, or fetches it from a URL.
    init(keySet source: String, algorithms: [SignatureAlgorithm]) async throws {
        let isRemote = source.contains("://")
        let bytes =
            isRemote ? try await KeyFetch.fetch(source, limit: TokenKeys.limit) : try TokenKeys.contents(source)
        func read(_ algorithms: [SignatureAlgorithm]) throws(JOSEError) -> TokenKeys {
            .set(try TokenKeys.readSet(bytes, algorithms, isRemote: isRemote))
        }
        let keys = try TokenKeys.usable(source) { () throws(JOSEError) in
            try TokenKeyring(algorithms: algorithms, read: read)
        }
        if case .set(let set) = keys.usual, set.keys.isEmpty {
            let why = set.skipped.first.map { ": \($0.message)" } ?? ""
            throw CommandFailure(
                "\(URLText.withoutValues(source)): no key in it can be used\(why): name another set", status: .misused)
        }
        self = keys
    }

    /// Reads the same keys once for each algorithm, with that algorithm first.
    private init(
        algorithms: [SignatureAlgorithm], read: ([SignatureAlgorithm]) throws(JOSEError) -> TokenKeys
    ) throws(JOSEError) {
        var byAlgorithm: [SignatureAlgorithm: TokenKeys] = [:]
        for algorithm in algorithms {
            // A secret may be long enough for one algorithm and too short for another.
            byAlgorithm[algorithm] = try? read([algorithm] + algorithms.filter { $0 != algorithm })
        }
        if let first = algorithms.first(where: { byAlgorithm[$0] != nil }), let keys = byAlgorithm[first] {
            self.usual = keys
        } else {
            self.usual = try read(algorithms)
        }
        self.byAlgorithm = byAlgorithm
    }
}
