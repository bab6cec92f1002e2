import Answers

/// The value of an `Authorization` field. The scheme is case-insensitive and one space follows it (RFC 9110 section
/// 11.6.2, RFC 6750 section 2.1).
extension PresentedAuthorization {
    /// The longest accepted value: 8 KiB after the scheme. No token is that long.
    static let maximumBytes = 8 * 1024 + "Bearer ".utf8.count

    /// Sorts a value by its scheme. The token of `Bearer` may be empty.
    init(_ value: UnsafeRawBufferPointer) {
        if let token = Self.credentials(in: value, of: "bearer") {
            self = .bearer(Array(token))
        } else if let rest = Self.credentials(in: value, of: "basic") {
            self = .basic(Array(rest))
        } else if Self.matches(value[...], "bearer") {
            self = .bearer([])
        } else {
            self = .other
        }
    }

    /// The token of a value that is `Bearer`, one space and a token of no unusual length; nil for any other. Copies
    /// nothing.
    static func bearerToken(in value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard value.count <= maximumBytes, let token = credentials(in: value, of: "bearer"), !token.isEmpty else {
            return nil
        }
        return token
    }

    /// What follows this scheme and its space; nil for a value of another scheme.
    private static func credentials(
        in value: UnsafeRawBufferPointer, of scheme: StaticString
    ) -> UnsafeRawBufferPointer? {
        let length = scheme.utf8CodeUnitCount
        guard value.count > length, value[length] == UInt8(ascii: " "), matches(value[..<length], scheme) else {
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: value[(length + 1)...])
    }

    private static func matches(_ bytes: Slice<UnsafeRawBufferPointer>, _ lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: lowercase.utf8Start, count: lowercase.utf8CodeUnitCount)
        return zip(bytes, expected).allSatisfy { ($0.0 | 0x20) == $0.1 }
    }
}
