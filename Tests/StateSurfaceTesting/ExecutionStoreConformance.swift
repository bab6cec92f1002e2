import StateSurface
import Testing

/// What every ``ExecutionStore`` and ``NodeStore`` promises.
package enum ExecutionStoreConformance {
    package typealias Store = any ExecutionStore & NodeStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("An intent id is taken once per session and returns who holds it", begin),
        StoreRule("Concurrent outcomes are numbered without gap or double", numbering),
        StoreRule("A second outcome changes nothing, not even when both come at once", finishOnce),
        StoreRule("Executions of nodes that no longer live are found", interrupted),
    ]

    @Sendable private static func begin(_ store: Store) async throws {
        let first = Sample.execution()
        let holder = try await store.begin(execution: first)
        #expect(holder == nil)
        #expect(try await store.begin(execution: Sample.execution(node: "n2")) == first)
        #expect(try await store.begin(execution: Sample.execution(session: "ses_b")) == nil)
        #expect(try await store.execution(sessionID: "ses_a", intentID: "c1") == first)
    }

    @Sendable private static func numbering(_ store: Store) async throws {
        for index in 1...40 { _ = try await store.begin(execution: Sample.execution("c\(index)")) }
        #expect(try await store.eventBounds(sessionID: "ses_a") == (1, 0))
        let numbers = try await withThrowingTaskGroup(of: Int64.self) { group in
            for index in 1...40 {
                group.addTask {
                    try await store.finish(sessionID: "ses_a", intentID: "c\(index)", at: Sample.now) {
                        "{\"seq\":\($0)}"
                    }.seq
                }
            }
            return try await group.reduce(into: [Int64]()) { $0.append($1) }
        }
        #expect(numbers.sorted() == Array(1...40))
        #expect(try await store.eventBounds(sessionID: "ses_a") == (1, 40))
        let events = try await store.events(sessionID: "ses_a", after: 37, limit: 2)
        #expect(events.map(\.seq) == [38, 39])
        #expect(events.first?.payload == "{\"seq\":38}")
    }

    @Sendable private static func finishOnce(_ store: Store) async throws {
        _ = try await store.begin(execution: Sample.execution())
        let events = try await withThrowingTaskGroup(of: EventRecord.self) { group in
            for index in 0..<10 {
                group.addTask {
                    try await store.finish(sessionID: "ses_a", intentID: "c1", at: Sample.now) { _ in "\(index)" }
                }
            }
            return try await group.reduce(into: [EventRecord]()) { $0.append($1) }
        }
        #expect(events.allSatisfy { $0 == events.first && $0.seq == 1 })
        #expect(try await store.eventBounds(sessionID: "ses_a") == (1, 1))
        await #expect(throws: StateSurfaceError(.failed, "")) {
            _ = try await store.finish(sessionID: "ses_a", intentID: "never", at: Sample.now) { _ in "" }
        }
    }

    @Sendable private static func interrupted(_ store: Store) async throws {
        _ = try await store.begin(execution: Sample.execution("c1", node: "dead"))
        _ = try await store.begin(execution: Sample.execution("c2", node: "alive"))
        _ = try await store.begin(execution: Sample.execution("c3", node: "dead"))
        _ = try await store.finish(sessionID: "ses_a", intentID: "c3", at: Sample.now) { "\($0)" }
        _ = try await store.beat(nodeID: "dead", at: Sample.now, within: 5_000)
        #expect(try await store.beat(nodeID: "alive", at: Sample.now + 1, within: 5_000) == ["alive", "dead"])
        let living = try await store.beat(nodeID: "alive", at: Sample.now + 6_000, within: 5_000)
        #expect(living == ["alive"])
        #expect(
            try await store.interruptedExecutions(livingNodes: living, limit: 10).map(\.intentID) == ["c1"])
        #expect(try await store.interruptedExecutions(livingNodes: [], limit: 10).count == 2)
        #expect(try await store.interruptedExecutions(livingNodes: [], limit: 1).count == 1)
    }
}
