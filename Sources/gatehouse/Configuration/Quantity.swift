/// Converts numbers with a unit from and to text.
enum Quantity {
    /// In milliseconds, as these all are.
    static let second: Int64 = 1_000
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000
    static let day: Int64 = 86_400_000

    /// Largest first: a value is written in the first unit that divides it.
    private static let durations: [(unit: String, factor: Int64)] = [
        ("d", day), ("h", hour), ("m", minute), ("s", second), ("ms", 1),
    ]
    /// Largest first. Units of 1000, such as MB, are not understood.
    private static let sizes: [(unit: String, factor: Int64)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// A duration such as `15m` in milliseconds; nil without a unit.
    static func milliseconds(_ text: String) -> Int64? {
        product(text, units: durations)
    }

    /// A size such as `64KiB` in bytes. A number without a unit means bytes.
    static func bytes(_ text: String) -> Int? {
        (product(text, units: sizes) ?? product(text + "B", units: sizes)).flatMap { Int(exactly: $0) }
    }

    /// The text of a duration in the largest unit that divides it.
    static func duration(_ milliseconds: Int64) -> String {
        milliseconds == 0 ? "0s" : text(milliseconds, units: durations)
    }

    /// The text of a size in the largest unit that divides it.
    static func size(_ bytes: Int) -> String {
        text(Int64(bytes), units: sizes)
    }

    /// The number times its unit; nil for another form, an unknown unit or a number that is too large.
    private static func product(_ text: String, units: [(unit: String, factor: Int64)]) -> Int64? {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        let unit = text[digits.endIndex...]
        guard !digits.isEmpty, let number = Int64(text[..<digits.endIndex]),
            let factor = units.first(where: { $0.unit.utf8.elementsEqual(unit.utf8) })?.factor
        else { return nil }
        let (value, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : value
    }

    /// The value in the largest unit that divides it, where the units are in falling order.
    private static func text(_ value: Int64, units: [(unit: String, factor: Int64)]) -> String {
        for (unit, factor) in units where value != 0 && value.isMultiple(of: factor) {
            return "\(value / factor)\(unit)"
        }
        return "0\(units.last?.unit ?? "")"
    }
}
