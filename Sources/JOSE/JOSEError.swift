import Libcrypto

/// A key or key set that cannot be used, or a signature that could not be made.
///
/// What is wrong with a *token* is not an error but a `TokenRefusal`.
public struct JOSEError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable, CaseIterable {
        /// Not PEM, DER, JWK or JWKS, or a broken one.
        case keyUnreadable = "key_unreadable"
        /// The key is encrypted, and no passphrase or the wrong one was given.
        case passphrase
        /// A kind of key that is not used here.
        case keyUnsupported = "key_unsupported"
        /// Too short, off its curve, or halves that do not belong together.
        case keyUnsound = "key_unsound"
        /// `use` or `key_ops` say that the key is for something else.
        case keyUse = "key_use"
        /// A public key where a private one is needed.
        case privateKeyMissing = "private_key_missing"
        /// The key's algorithm is not known, not the wanted one, or does not fit the key.
        case algorithmMismatch = "algorithm_mismatch"
        /// The installed libcrypto does not have the algorithm.
        case algorithmUnavailable = "algorithm_unavailable"
        /// Two keys of one set have the same `kid`.
        case duplicateKeyID = "duplicate_key_id"
        /// Symmetric and asymmetric keys in one set.
        case mixedKeySet = "mixed_key_set"
        /// A header member that may not be set by hand.
        case headerReserved = "header_reserved"
        /// libcrypto failed where it should not.
        case failed
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence; never a part of a key.
    public let message: String

    /// An error of a kind.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence.
    public var description: String { message }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code
    }

    /// The border between libcrypto's faults and ours.
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

    /// Runs `body` with its faults translated.
    static func mapping<Value>(_ body: () throws(LibcryptoError) -> Value) throws(JOSEError) -> Value {
        do throws(LibcryptoError) {
            return try body()
        } catch {
            throw JOSEError(error)
        }
    }
}
