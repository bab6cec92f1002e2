import Testing

@testable import Runtime

@Suite struct TimestampTests {
    @Test(
        "Times are RFC 3339, UTC, to the millisecond",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_164_799_999, "2024-02-28T23:59:59.999Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (1_785_585_600_001, "2026-08-01T12:00:00.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
            (.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func text(milliseconds: Int64, expected: String) {
        #expect(Timestamp.text(milliseconds) == expected)
    }
}
