import Encodings
import Libcrypto

/// A session secret that is about to be handed out. Only its hash is ever kept.
package struct SessionSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// What the wire form begins with.
    package static let prefix = "sec_"
    private static let byteCount = 32

    /// `sec_` and the secret itself, for its one reader.
    package let text: String
    /// What is stored and compared.
    package let hash: [UInt8]

    /// A new random secret.
    package init() {
        let bytes = SecureRandom.bytes(Self.byteCount)
        self.text = Self.prefix + Base64URL.encode(bytes)
        self.hash = Digest.sha256(bytes)
    }

    /// The hash of a presented secret; nil when it is not shaped like one.
    package static func hash(ofPresented text: some Collection<UInt8>) -> [UInt8]? {
        guard let bytes = PrefixedRandom.bytes(of: text, prefix: self.prefix, count: self.byteCount) else { return nil }
        return Digest.sha256(bytes)
    }

    /// The hash of a presented secret; nil when it is not shaped like one.
    package static func hash(ofPresented text: String) -> [UInt8]? {
        self.hash(ofPresented: text.utf8)
    }

    package var description: String { "SessionSecret" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Session ids: addresses, made here and nowhere else.
package enum SessionID {
    /// What the wire form begins with.
    package static let prefix = "ses_"
    private static let byteCount = 16

    static func make() -> String {
        self.prefix + Base64URL.encode(SecureRandom.bytes(self.byteCount))
    }

    /// Whether a text has the shape of a session id.
    package static func isShaped(_ text: some Collection<UInt8>) -> Bool {
        PrefixedRandom.bytes(of: text, prefix: self.prefix, count: self.byteCount) != nil
    }
}

/// The shape that all opaque values here share: a prefix and base64url of so many random bytes.
enum PrefixedRandom {
    static func bytes(of text: some Collection<UInt8>, prefix: String, count: Int) -> [UInt8]? {
        let prefixLength = prefix.utf8.count
        guard text.count == prefixLength + (count * 4 + 2) / 3, text.starts(with: prefix.utf8) else { return nil }
        guard let bytes = Base64URL.decode(text.dropFirst(prefixLength)), bytes.count == count else { return nil }
        return bytes
    }
}
