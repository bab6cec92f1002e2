import BasicsForTests
import Testing

@testable import Experience

@Suite("Changes while a gateway stops", .timeLimit(.minutes(1)))
struct ChangeGateTests {
    @Test("One that is in progress is waited for, and none begins after that")
    func closing() async throws {
        let gate = ChangeGate()
        let (events, entered) = (Collected<String>(), Collected<Void>())
        let (release, releasing) = AsyncStream<Void>.makeStream()
        async let change = gate.perform {
            entered.append(())
            for await _ in release { break }
            events.append("changed")
        }
        _ = await entered.wait(for: 1)
        async let closed: Void = {
            await gate.close()
            events.append("closed")
        }()
        // Until it is closing, another may begin.
        while await gate.perform({}) { await Task.yield() }
        #expect(events.all.isEmpty, "it was closed while a change was in progress")
        releasing.yield()
        await closed
        #expect(await change)
        #expect(events.all == ["changed", "closed"])
        #expect(await !gate.perform { events.append("late") })
        #expect(events.all.count == 2)
    }

    @Test("One that fails is over")
    func failing() async {
        struct Fault: Error {}
        let gate = ChangeGate()
        await #expect(throws: Fault.self) { try await gate.perform { throw Fault() } }
        await gate.close()
    }
}
