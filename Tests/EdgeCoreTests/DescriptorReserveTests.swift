import Testing

@testable import EdgeCore

@Suite struct DescriptorReserveTests {
    @Test(
        "The reserve is reached where as many are left, and of a small limit an eighth is kept",
        arguments: [
            (64, 0, 1024, false), (64, 959, 1024, false), (64, 960, 1024, true), (64, 2_000, 1024, true),
            (32, 991, 1024, false), (32, 992, 1024, true), (64, 55, 64, false), (64, 56, 64, true), (64, 0, 0, true),
        ])
    func decision(reserve: Int, lowestFree: Int, most: Int, isReached: Bool) {
        #expect(DescriptorReserve.isReached(reserve, lowestFree: lowestFree, most: most) == isReached)
    }

    @Test("This process has more left") func process() { #expect(!DescriptorReserve.isReached(1)) }
}
