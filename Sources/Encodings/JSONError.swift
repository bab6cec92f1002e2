/// Why a JSON text was refused, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable {
        case tooLarge = "too_large"
        case tooDeep = "too_deep"
        case tooManyMembers = "too_many_members"
        case stringTooLong = "string_too_long"
        case numberOutOfRange = "number_out_of_range"
        case duplicateName = "duplicate_name"
        case invalidUTF8 = "invalid_utf8"
        case loneSurrogate = "lone_surrogate"
        case malformed
        case trailingBytes = "trailing_bytes"
        case notAnObject = "not_an_object"
    }

    /// The kind of fault.
    public let code: Code
    /// The byte at which it was seen.
    public let offset: Int

    /// An error of a kind at a byte.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The code and the offset; never a part of the text.
    public var description: String { "\(code.rawValue) at byte \(offset)" }
}

/// What a JSON text may cost.
public struct JSONLimits: Sendable, Equatable {
    /// The longest text, in bytes.
    public var maxBytes: Int
    /// The deepest nesting of arrays and objects.
    public var maxDepth: Int
    /// The most members of one object or elements of one array.
    public var maxMembers: Int
    /// The most values in the whole text.
    public var maxValues: Int
    /// The longest string, in bytes after unescaping.
    public var maxStringBytes: Int

    /// The limits of a token or a small request body, unless told otherwise.
    public init(
        maxBytes: Int = 64 * 1024,
        maxDepth: Int = 16,
        maxMembers: Int = 1000,
        maxValues: Int = 10_000,
        maxStringBytes: Int = 64 * 1024
    ) {
        self.maxBytes = maxBytes
        self.maxDepth = maxDepth
        self.maxMembers = maxMembers
        self.maxValues = maxValues
        self.maxStringBytes = maxStringBytes
    }
}
