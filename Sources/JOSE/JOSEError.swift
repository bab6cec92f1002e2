import Libcrypto

/// Why a key or key set cannot be used, or a signature could not be made.
///
/// Faults of a token are reported as a ``TokenRefusal``.
public struct JOSEError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable, CaseIterable {
        /// Not a valid PEM, DER, JWK or JWKS.
        case keyUnreadable = "key_unreadable"
        /// The key is encrypted, and no passphrase or the wrong one was given.
        case passphrase
        /// A key of an algorithm or curve that is not supported.
        case keyUnsupported = "key_unsupported"
        /// Too short, not on its curve, or private and public key do not belong together.
        case keyUnsound = "key_unsound"
        /// `use` or `key_ops` do not allow the operation (RFC 7517 sections 4.2 and 4.3).
        case keyUse = "key_use"
        /// A public key where a private one is needed.
        case privateKeyMissing = "private_key_missing"
        /// The key's algorithm is unknown, not allowed, or does not fit the key.
        case algorithmMismatch = "algorithm_mismatch"
        /// The installed libcrypto does not have the algorithm.
        case algorithmUnavailable = "algorithm_unavailable"
        /// Two keys of one set have the same `kid`.
        case duplicateKeyID = "duplicate_key_id"
        /// Symmetric and asymmetric keys in one set.
        case mixedKeySet = "mixed_key_set"
        /// A header member that the signer sets itself and the caller may not.
        case headerReserved = "header_reserved"
        /// A libcrypto call failed that fails only for lack of memory or because of a defect.
        case failed
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence that contains no part of a key.
    public let message: String

    /// An error of a kind.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// Equality of the codes; messages are not compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code
    }

    /// Translates an error of `Libcrypto`.
    init(_ error: LibcryptoError) {
        let code: Code =
            switch error.code {
            case .unreadableKey: .keyUnreadable
            case .passphrase: .passphrase
            case .unsupportedKey: .keyUnsupported
            case .unsoundKey: .keyUnsound
            case .algorithmUnavailable: .algorithmUnavailable
            case .failed: .failed
            }
        self.init(code, error.description)
    }

    /// Runs `body` and translates what it throws.
    static func mapping<Value>(_ body: () throws(LibcryptoError) -> Value) throws(JOSEError) -> Value {
        do throws(LibcryptoError) {
            return try body()
        } catch {
            throw JOSEError(error)
        }
    }
}
