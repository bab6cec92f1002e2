/// A client secret; it has no description.
package struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The longest secret, in bytes.
    package static let maximumBytes = 1024

    let text: String

    /// A secret of visible ASCII and spaces (RFC 6749, appendix A.2); nil for an empty or a longer one.
    package init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Never the secret.
    package var description: String { "ClientSecret" }
    /// Nothing: a dump of a secret would be a leak.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
