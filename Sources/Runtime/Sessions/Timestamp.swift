import StateSurface

/// Formats times as in RFC 3339, in UTC with milliseconds.
package enum Timestamp {
    /// The text of a time, such as `2026-08-01T12:00:00.000Z`. Times outside the years 0 to 9999 are clamped.
    package static func text(_ milliseconds: Milliseconds) -> String {
        let bounded = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let days = floorDivide(bounded, by: 86_400_000)
        let rest = bounded - days * 86_400_000
        let (year, month, day) = date(daysSinceEpoch: days)
        var text = blank
        write(year, 4, at: 0, of: &text)
        write(month, 2, at: 5, of: &text)
        write(day, 2, at: 8, of: &text)
        write(rest / 3_600_000, 2, at: 11, of: &text)
        write(rest / 60_000 % 60, 2, at: 14, of: &text)
        write(rest / 1_000 % 60, 2, at: 17, of: &text)
        write(rest % 1_000, 3, at: 20, of: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The template, whose digits are overwritten.
    private static let blank = Array("0000-00-00T00:00:00.000Z".utf8)

    /// Writes the last `width` digits of a non-negative number.
    private static func write(_ value: Int64, _ width: Int, at start: Int, of text: inout [UInt8]) {
        var rest = value
        for place in stride(from: start + width - 1, through: start, by: -1) {
            text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// The date in the proleptic Gregorian calendar, computed in 400-year eras that begin on 1 March.
    private static func date(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
