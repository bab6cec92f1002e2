import JOSE
import SecurityGuard

/// The keys to verify a token with, as given on the command line. Faults in them are wrong usage.
enum TokenKeys {
    /// One key, which is used whatever the token's `kid` is.
    case one(VerificationKey)
    /// A key set, in which the token's `kid` selects the key.
    case set(JWKSet)

    /// The largest key file, in bytes.
    static let limit = 256 * 1_024

    /// Reads the contents of a key file.
    init(file bytes: [UInt8], algorithms: [SignatureAlgorithm], passphrase: KeyPassphrase?) throws(JOSEError) {
        let set = try JWKSet(file: bytes, algorithms: algorithms, passphrase: passphrase?.bytes)
        if let key = set.keys.first, set.keys.count == 1 {
            self = .one(key)
        } else {
            self = .set(set)
        }
    }

    /// Reads the text of a key set.
    static func readSet(
        _ bytes: [UInt8], _ algorithms: [SignatureAlgorithm], isRemote: Bool
    ) throws(JOSEError) -> JWKSet {
        do throws(JOSEError) {
            return try JWKSet(parsing: bytes, policy: .remote, algorithms: algorithms)
        } catch {
            // A file may contain shared secrets; a published key set may not.
            guard error.code == .mixedKeySet, !isRemote else { throw error }
            return try JWKSet(parsing: bytes, policy: .local, algorithms: algorithms)
        }
    }

    /// The contents of a file that has to exist.
    static func contents(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            if let bytes = try FileBytes.read(path, limit: limit) { return bytes }
        } catch {
            throw CommandFailure(error.description, status: .misused)
        }
        throw CommandFailure("\(path): no such file: name the key's file", status: .misused)
    }

    /// Runs `body`, and turns its error into a failure that names the source.
    static func usable<R>(
        _ source: String, passphrase: KeyPassphrase? = nil, _ body: () throws(JOSEError) -> R
    ) throws(CommandFailure) -> R {
        do throws(JOSEError) {
            return try body()
        } catch {
            if error.code == .passphrase {
                let file = URLText.withoutValues(source)
                let text = KeyPassphrase.refusal(of: file, given: passphrase, setting: KeyPassphraseOption.flag)
                throw CommandFailure(text, status: .misused)
            }
            throw CommandFailure(
                "\(URLText.withoutValues(source)): \(error.message): name a key that fits", status: .misused)
        }
    }
}
