import Encodings

/// Seconds since 1970 (RFC 7519 §2), fractions included.
enum NumericDate {
    /// Up to here every whole second is a floating-point value of its own; no clock goes further.
    private static let limit = 9_007_199_254_740_992.0

    /// The seconds, or nil for anything but a number from 0 up to 2^53.
    static func seconds(_ number: Double?) -> Double? {
        guard let seconds = number, seconds >= 0, seconds < limit else { return nil }
        return seconds
    }

    /// A whole second, or nil beyond the range.
    static func value(_ seconds: Int64) -> JSONValue {
        .integer(seconds)
    }
}
