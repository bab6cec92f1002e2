import JOSE

/// The keys a token is verified with, from where the command line said. Whatever is wrong with them is wrong usage.
enum TokenKeys {
    /// The one key that was named: it is used whatever `kid` the token has.
    case one(VerificationKey)
    /// A set, from which the token's `kid` chooses.
    case set(JWKSet)

    /// What a key file may weigh; a set is the largest.
    private static let limit = 256 * 1_024

    /// Reads a key file: PEM, DER, JWK, or a set of keys after all.
    init(keyFile path: String, algorithms: [SignatureAlgorithm]) throws(CommandFailure) {
        let bytes = try Self.contents(path)
        self = try Self.usable(path) { () throws(JOSEError) in
            let set = try JWKSet(file: bytes, algorithms: algorithms)
            if let key = set.keys.first, set.keys.count == 1 { return .one(key) }
            return .set(set)
        }
    }

    /// Reads a key set from a file, or fetches it from a URL.
    init(keySet source: String, algorithms: [SignatureAlgorithm]) async throws {
        let isRemote = source.contains("://")
        let bytes = isRemote ? try await KeyFetch.fetch(source, limit: Self.limit) : try Self.contents(source)
        let set = try Self.usable(source) { () throws(JOSEError) in
            try Self.set(bytes, algorithms, isRemote: isRemote)
        }
        guard !set.keys.isEmpty else {
            let why = set.skipped.first.map { ": \($0.message)" } ?? ""
            throw CommandFailure(
                "\(URLText.redacted(source)): no key in it can be used\(why): name another set", status: .misused)
        }
        self = .set(set)
    }

    private static func set(
        _ bytes: [UInt8], _ algorithms: [SignatureAlgorithm], isRemote: Bool
    ) throws(JOSEError) -> JWKSet {
        do throws(JOSEError) {
            return try JWKSet(parsing: bytes, policy: .remote, algorithms: algorithms)
        } catch {
            // A file may hold shared secrets; what everyone can fetch may not.
            guard error.code == .mixedKeySet, !isRemote else { throw error }
            return try JWKSet(parsing: bytes, policy: .local, algorithms: algorithms)
        }
    }

    private static func contents(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            if let bytes = try FileBytes.read(path, limit: limit) { return bytes }
        } catch {
            throw CommandFailure(error.description, status: .misused)
        }
        throw CommandFailure("\(path): no such file: name the key's file", status: .misused)
    }

    private static func usable<R>(_ source: String, _ body: () throws(JOSEError) -> R) throws(CommandFailure) -> R {
        do {
            return try body()
        } catch {
            throw CommandFailure(
                "\(URLText.redacted(source)): \(error.message): name a key that fits", status: .misused)
        }
    }
}
