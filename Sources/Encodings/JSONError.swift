/// Why a JSON text was refused, and at which byte.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable {
        /// More than ``JSONLimits/maxBytes``.
        case tooLarge = "too_large"
        /// More than ``JSONLimits/maxDepth``.
        case tooDeep = "too_deep"
        /// More than ``JSONLimits/maxMembers`` or ``JSONLimits/maxValues``.
        case tooManyMembers = "too_many_members"
        /// More than ``JSONLimits/maxStringBytes``.
        case stringTooLong = "string_too_long"
        /// A number of more than 128 characters, or beyond the range of a double.
        case numberOutOfRange = "number_out_of_range"
        /// Two members of one object have the same name (RFC 8259 section 4).
        case duplicateName = "duplicate_name"
        /// A string that is not valid UTF-8.
        case invalidUTF8 = "invalid_utf8"
        /// An escaped surrogate without its other half (RFC 8259 section 8.2).
        case loneSurrogate = "lone_surrogate"
        /// Not the grammar of RFC 8259.
        case malformed
        /// Something other than whitespace follows the value.
        case trailingBytes = "trailing_bytes"
        /// A value other than an object, where an object is required.
        case notAnObject = "not_an_object"
    }

    /// The kind of fault.
    public let code: Code
    /// The offset in bytes at which the fault was found.
    public let offset: Int

    /// An error of a kind at a byte offset.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The code and the offset; never a part of the text.
    public var description: String { "\(code.rawValue) at byte \(offset)" }
}
