import Testing

@testable import Edge

/// How long the log waits for the cause of an outage.
@Suite struct StoreReporterTests {
    @Test("A question that is answered gets its answer")
    func answered() async {
        #expect(await StoreReporter.answer(within: .seconds(60), to: { "the disk is full" }) == "the disk is full")
    }

    @Test("A question that nothing answers, and that no cancellation ends, is not waited for")
    func silent() async {
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        let begun = ContinuousClock.now
        let answer = await StoreReporter.answer(
            within: .milliseconds(50),
            to: {
                await Task.detached { for await _ in silence {} }.value
                return "late"
            })
        #expect(answer == nil && begun.duration(to: .now) < .seconds(10))
    }
}
