import Encodings
import Libcrypto

/// A new session secret. Only its hash is stored.
package struct SessionSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The prefix of the text.
    package static let prefix = "sec_"
    private static let byteCount = 32

    /// The secret with its prefix, to be sent to the client.
    package let text: String
    /// The SHA-256, which is stored and compared.
    package let hash: [UInt8]

    /// A new random secret.
    package init() {
        let bytes = SecureRandom.bytes(Self.byteCount)
        self.text = Self.prefix + Base64URL.encode(bytes)
        self.hash = Digest.sha256(bytes)
    }

    /// The hash of a presented secret; nil if it does not have the form of one.
    package static func hash(ofPresented text: some Collection<UInt8>) -> [UInt8]? {
        guard let bytes = PrefixedRandom.bytes(of: text, prefix: prefix, count: byteCount) else { return nil }
        return Digest.sha256(bytes)
    }

    /// The hash of a presented secret; nil if it does not have the form of one.
    package static func hash(ofPresented text: String) -> [UInt8]? {
        hash(ofPresented: text.utf8)
    }

    package var description: String { "SessionSecret" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Session ids, which name sessions and are not credentials.
package enum SessionID {
    /// The prefix of the text.
    package static let prefix = "ses_"
    private static let byteCount = 16

    static func make() -> String {
        prefix + Base64URL.encode(SecureRandom.bytes(byteCount))
    }

    /// Whether a text has the form of a session id.
    package static func isShaped(_ text: some Collection<UInt8>) -> Bool {
        PrefixedRandom.bytes(of: text, prefix: prefix, count: byteCount) != nil
    }
}

/// The form of all opaque values: a prefix and base64url of a fixed number of random bytes.
enum PrefixedRandom {
    static func bytes(of text: some Collection<UInt8>, prefix: String, count: Int) -> [UInt8]? {
        let prefixLength = prefix.utf8.count
        guard text.count == prefixLength + (count * 4 + 2) / 3, text.starts(with: prefix.utf8) else { return nil }
        guard let bytes = Base64URL.decode(text.dropFirst(prefixLength)), bytes.count == count else { return nil }
        return bytes
    }
}
