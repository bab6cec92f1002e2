import Testing

@testable import gatehouse

@Suite("Durations and sizes")
struct QuantityTests {
    @Test(
        "A duration is a number and its unit",
        arguments: [
            ("500ms", 500), ("30s", 30_000), ("15m", 900_000), ("24h", 86_400_000), ("30d", 2_592_000_000), ("0s", 0),
        ] as [(String, Int64)])
    func readsDurations(text: String, milliseconds: Int64) {
        #expect(Quantity.milliseconds(text) == milliseconds)
    }

    @Test(
        "What is no duration is refused",
        arguments: [
            "", "30", "s", "-1s", "+1s", "1.5s", "1 s", " 1s", "1s ", "1S", "1w", "1h30m", "0x1s", "٣s",
            "9223372036854775807d", "99999999999999999999s",
        ])
    func refusesDurations(text: String) {
        #expect(Quantity.milliseconds(text) == nil)
    }

    @Test(
        "A size is a number of bytes, with a binary unit or none",
        arguments: [("512", 512), ("512B", 512), ("64KiB", 65_536), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648)])
    func readsSizes(text: String, bytes: Int) {
        #expect(Quantity.bytes(text) == bytes)
    }

    @Test(
        "What is no size is refused",
        arguments: ["", "KiB", "64KB", "64kib", "64K", "-1", "1.5MiB", "1 MiB", "9223372036854775807KiB"])
    func refusesSizes(text: String) {
        #expect(Quantity.bytes(text) == nil)
    }

    @Test("Durations are shown in the largest unit without a rest", arguments: ["500ms", "90s", "15m", "25h", "30d"])
    func showsDurations(text: String) throws {
        #expect(Quantity.duration(try #require(Quantity.milliseconds(text))) == text)
    }

    @Test("Sizes are shown in the largest unit without a rest", arguments: ["1B", "1025B", "64KiB", "3MiB", "0B"])
    func showsSizes(text: String) throws {
        #expect(Quantity.size(try #require(Quantity.bytes(text))) == text)
    }
}
