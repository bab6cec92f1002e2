/// RFC 8259 without leniency: what two parsers could read differently is refused.
///
/// Valid UTF-8 without byte order mark, unique names after unescaping, no lone surrogates, the exact grammar of
/// numbers, nothing behind the value, and a bound on everything an attacker could make large.
public enum StrictJSON {
    /// The one value that `bytes` spells.
    public static func parse(
        _ bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONValue {
        let result =
            bytes.withContiguousStorageIfAvailable { parse(buffer: $0, limits) }
            ?? Array(bytes).withUnsafeBufferPointer { parse(buffer: $0, limits) }
        return try result.get()
    }

    /// The one value that `text` spells.
    public static func parse(_ text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        try parse(text.utf8, limits: limits)
    }

    /// The one object that `bytes` spells; any other value is refused.
    public static func object(
        _ bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONObject {
        guard case .object(let object) = try parse(bytes, limits: limits) else { throw JSONError(.notAnObject, at: 0) }
        return object
    }

    /// The one object that `text` spells; any other value is refused.
    public static func object(_ text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONObject {
        try object(text.utf8, limits: limits)
    }

    /// The one object that the bytes of a buffer spell.
    package static func object(
        buffer: UnsafeBufferPointer<UInt8>, limits: JSONLimits
    ) -> Result<JSONObject, JSONError> {
        switch parse(buffer: buffer, limits) {
        case .success(.object(let object)): .success(object)
        case .success: .failure(JSONError(.notAnObject, at: 0))
        case .failure(let error): .failure(error)
        }
    }

    // A result, because the standard library's buffer closures do not carry a typed throw.
    static func parse(buffer: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) -> Result<JSONValue, JSONError> {
        do throws(JSONError) {
            try checkLength(buffer, limits)
            var parser = JSONParser(buffer, limits: limits)
            return .success(try parser.document())
        } catch {
            return .failure(error)
        }
    }

    /// Where the members of the one object are that the bytes of a buffer spell; any other value is refused.
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
