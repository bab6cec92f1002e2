import Encodings

/// NumericDate (RFC 7519 section 2): seconds since 1970, possibly with a fraction.
enum NumericDate {
    /// 2^53: below it, every integer is exactly a double.
    private static let limit = 9_007_199_254_740_992.0

    /// The seconds, or nil unless they are at least 0 and below 2^53.
    static func seconds(_ number: Double?) -> Double? {
        guard let seconds = number, seconds >= 0, seconds < limit else { return nil }
        return seconds
    }

    /// A whole number of seconds as a JSON value.
    static func value(_ seconds: Int64) -> JSONValue {
        .integer(seconds)
    }
}
