/// A `token` (RFC 9110 section 5.6.2), like methods and field names.
package enum HTTPToken {
    /// Whether the text is one.
    package static func matches(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
    }
}
