/// A JSON parser (RFC 8259) that refuses what two parsers could read differently.
///
/// The text must be valid UTF-8 without a byte order mark. Names must be unique after unescaping, surrogates must be
/// paired, numbers must follow the grammar exactly, and nothing but whitespace may follow the value. ``JSONLimits``
/// bounds everything that a sender could make large.
public enum StrictJSON {
    /// Parses a text in UTF-8.
    ///
    /// - Parameters:
    ///   - bytes: one JSON value, with whitespace around it or without.
    ///   - limits: the largest text that is accepted, by size, depth and number of values.
    /// - Throws: the first fault, with its offset in bytes.
    public static func parse(
        _ bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONValue {
        let result =
            bytes.withContiguousStorageIfAvailable { parse(buffer: $0, limits) }
            ?? Array(bytes).withUnsafeBufferPointer { parse(buffer: $0, limits) }
        return try result.get()
    }

    /// Parses a text that is a string, as its UTF-8.
    ///
    /// - Throws: the first fault, with its offset in bytes of UTF-8.
    public static func parse(_ text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        try parse(text.utf8, limits: limits)
    }

    /// Parses a text in UTF-8 that must be an object; any other value is refused with ``JSONError/Code/notAnObject``.
    public static func object(
        _ bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONObject {
        guard case .object(let object) = try parse(bytes, limits: limits) else { throw JSONError(.notAnObject, at: 0) }
        return object
    }

    /// Parses a text that must be an object; any other value is refused with ``JSONError/Code/notAnObject``.
    public static func object(_ text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONObject {
        try object(text.utf8, limits: limits)
    }

    /// Parses the bytes of a buffer, which must be an object.
    package static func object(
        buffer: UnsafeBufferPointer<UInt8>, limits: JSONLimits
    ) -> Result<JSONObject, JSONError> {
        switch parse(buffer: buffer, limits) {
        case .success(.object(let object)): .success(object)
        case .success: .failure(JSONError(.notAnObject, at: 0))
        case .failure(let error): .failure(error)
        }
    }

    // Returns a `Result`, because the standard library's buffer closures do not support typed throws.
    static func parse(buffer: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) -> Result<JSONValue, JSONError> {
        do throws(JSONError) {
            try checkLength(buffer, limits)
            var parser = JSONParser(buffer, limits: limits)
            return .success(try parser.document())
        } catch {
            return .failure(error)
        }
    }

    /// The places of the members of the object in the bytes of a buffer; any other value is refused.
    static func members(
        buffer: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits
    ) -> Result<[JSONIndex.Member], JSONError> {
        do throws(JSONError) {
            try checkLength(buffer, limits)
            var indexer = JSONIndexer(buffer, limits: limits)
            return .success(try indexer.document())
        } catch {
            return .failure(error)
        }
    }

    private static func checkLength(_ buffer: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) throws(JSONError) {
        guard buffer.count <= limits.maxBytes else { throw JSONError(.tooLarge, at: limits.maxBytes) }
    }
}
