import NIOCore

/// The format of dates that are sent, IMF-fixdate (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
public enum HTTPDate {
    /// The length of a date in bytes.
    public static let length = 29

    /// Writes the date of `seconds` since 1970. Dates before 1970 or after 9999 are written as the nearest date in that
    /// range.
    public static func write(_ seconds: Int64, to buffer: inout ByteBuffer) {
        let clamped = min(max(seconds, 0), 253_402_300_799)
        let (days, clock) = (Int(clamped / 86_400), Int(clamped % 86_400))
        let date = civil(daysSince1970: days)
        writeName("ThuFriSatSunMonTueWed", days % 7, to: &buffer)
        buffer.writeStaticString(", ")
        writeDigits(date.day, to: &buffer)
        buffer.writeInteger(Byte.space)
        writeName("JanFebMarAprMayJunJulAugSepOctNovDec", date.month - 1, to: &buffer)
        buffer.writeInteger(Byte.space)
        writeDigits(date.year / 100, to: &buffer)
        writeDigits(date.year % 100, to: &buffer)
        buffer.writeInteger(Byte.space)
        writeDigits(clock / 3600, to: &buffer)
        buffer.writeInteger(Byte.colon)
        writeDigits(clock / 60 % 60, to: &buffer)
        buffer.writeInteger(Byte.colon)
        writeDigits(clock % 60, to: &buffer)
        buffer.writeStaticString(" GMT")
    }

    /// The date in the proleptic Gregorian calendar. Years are counted from March, so that a leap day is the last day
    /// of a year.
    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func writeDigits(_ number: Int, to buffer: inout ByteBuffer) {
        buffer.writeInteger(Byte.zero + UInt8(truncatingIfNeeded: number / 10 % 10))
        buffer.writeInteger(Byte.zero + UInt8(truncatingIfNeeded: number % 10))
    }

    private static func writeName(_ names: StaticString, _ index: Int, to buffer: inout ByteBuffer) {
        names.withUTF8Buffer { bytes in
            guard index >= 0, index * 3 + 3 <= bytes.count else { return }
            _ = buffer.writeBytes(bytes[(index * 3)..<(index * 3 + 3)])
        }
    }
}
