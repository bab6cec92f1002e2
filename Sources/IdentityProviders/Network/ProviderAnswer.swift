/// What a provider answered.
package struct ProviderAnswer: Sendable {
    /// The status; redirects are not followed.
    package let status: Int
    /// The value of `Content-Type`, if there was exactly one.
    package let contentType: String?
    /// The body, at most ``ProviderRequest/maximumAnswerBytes``.
    package let body: [UInt8]

    package init(status: Int, contentType: String?, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// Whether the media type is this one, ignoring parameters and the case of letters.
    func isOfType(_ wanted: String) -> Bool {
        guard let contentType else { return false }
        let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        return type.elementsEqual(wanted.utf8) { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
    }

    /// Whether the body is JSON by its media type.
    var isJSON: Bool { isOfType("application/json") }
}
