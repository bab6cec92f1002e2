import Encodings

/// A further rule for a token.
public struct ClaimRule: Sendable {
    /// The refusal, or nil if the rule is kept; `now` is in seconds since 1970.
    public let refusal: @Sendable (_ header: ProtectedHeader, _ claims: Claims, _ now: Double) -> TokenRefusal?

    /// A rule from a closure, which returns the refusal, or nil if the rule is kept.
    public init(_ refusal: @escaping @Sendable (ProtectedHeader, Claims, Double) -> TokenRefusal?) {
        self.refusal = refusal
    }

    /// A claim must be exactly this string.
    public static func claim(_ name: String, is wanted: String) -> ClaimRule {
        ClaimRule { _, claims, _ in
            guard let value = claims[name] else { return TokenRefusal(.claimMissing, "\(name) is missing") }
            return value == .string(wanted) ? nil : TokenRefusal(.claimInvalid, "\(name) is not the wanted one")
        }
    }

    /// A claim must be a string of at most `bytes` bytes of UTF-8, if it is present.
    public static func claim(_ name: String, atMost bytes: Int) -> ClaimRule {
        ClaimRule { _, claims, _ in
            guard let value = claims[name] else { return nil }
            guard let text = value.stringValue, text.utf8.count <= bytes else {
                return TokenRefusal(.claimInvalid, "\(name) is not a string of at most \(bytes) bytes")
            }
            return nil
        }
    }
}
