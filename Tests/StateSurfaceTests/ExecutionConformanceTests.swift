import Testing

@testable import StateSurface

@Suite("The execution log, artifacts and shared counters, on both databases")
struct ExecutionConformanceTests {
    @Test("An intent id is taken once per session and returns who holds it", arguments: Backend.available)
    func begin(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let first = Sample.execution()
            let holder = try await store.begin(execution: first)
            #expect(holder == nil)
            #expect(try await store.begin(execution: Sample.execution(node: "n2")) == first)
            #expect(try await store.begin(execution: Sample.execution(session: "ses_b")) == nil)
            #expect(try await store.execution(sessionID: "ses_a", intentID: "c1") == first)
        }
    }

    @Test("Concurrent outcomes are numbered without gap or double", arguments: Backend.available)
    func numbering(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("A second outcome changes nothing, not even when both come at once", arguments: Backend.available)
    func finishOnce(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("Only the last thousand events are kept, the outcomes all", arguments: Backend.available)
    func pruning(_ backend: Backend) async throws {
        try await backend.withStore { store in
            for index in 1...1_050 {
                _ = try await store.begin(execution: Sample.execution("c\(index)"))
                _ = try await store.finish(sessionID: "ses_a", intentID: "c\(index)", at: Sample.now) { "\($0)" }
            }
            #expect(try await store.eventBounds(sessionID: "ses_a") == (51, 1_050))
            #expect(try await store.execution(sessionID: "ses_a", intentID: "c1")?.outcome == "1")
        }
    }

    @Test(
        "Of outcomes only so many bytes are kept; the oldest go, but that they ran is kept",
        arguments: Backend.available)
    func outcomeBytes(_ backend: Backend) async throws {
        try await backend.withStore { store in
            // Two bytes a character: what counts is what it takes.
            let large = String(repeating: "\u{E9}", count: 1 << 20)
            func run(_ index: Int, session: String = "ses_a") async throws -> EventRecord {
                _ = try await store.begin(execution: Sample.execution("c\(index)", session: session))
                return try await store.finish(sessionID: session, intentID: "c\(index)", at: Sample.now) {
                    "\($0)\(large)"
                }
            }
            _ = try await run(1, session: "ses_b")
            var kept: [Int] = []
            for index in 1...20 {
                #expect(try await run(index).seq == Int64(index))
                kept = []
                for earlier in 1...index {
                    let execution = try await store.execution(sessionID: "ses_a", intentID: "c\(earlier)")
                    #expect(execution?.seq == Int64(earlier))
                    if execution?.outcome != nil { kept.append(earlier) }
                }
                #expect(kept.count * 2 << 20 <= SQLSurface.keptOutcomeBytes && kept.last == index)
                let bounds = try await store.eventBounds(sessionID: "ses_a")
                #expect(bounds == (Int64(kept.first ?? 0), Int64(index)))
            }
            #expect(kept.count > 4 && kept.first != 1)
            // A finished one stays so, and another session keeps its own.
            let again = try await store.finish(sessionID: "ses_a", intentID: "c1", at: Sample.now) { "again \($0)" }
            #expect(again.seq == 1 && again.payload == "again 1")
            #expect(try await store.execution(sessionID: "ses_a", intentID: "c1")?.outcome == nil)
            #expect(try await store.eventBounds(sessionID: "ses_b") == (1, 1))
        }
    }

    @Test("Executions of nodes that no longer live are found", arguments: Backend.available)
    func interrupted(_ backend: Backend) async throws {
        try await backend.withStore { store in
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

    @Test("Artifacts move by compare-and-set and belong to one user", arguments: Backend.available)
    func artifacts(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let draft = ArtifactRecord(
                tenantID: "acme", userID: "usr_a", name: "plan", version: 0, state: .active, content: "{}",
                updatedAt: Sample.now)
            let first = try #require(try await store.put(artifact: draft, expectedVersion: 0))
            #expect(first.version == 1 && first.state == .draft)
            #expect(try await store.put(artifact: draft, expectedVersion: 0) == nil)
            #expect(try await store.put(artifact: draft, expectedVersion: 2) == nil)
            #expect(try await store.put(artifact: draft, expectedVersion: 1)?.version == 2)
            #expect(try await store.put(artifact: draft, expectedVersion: nil)?.version == 3)
            #expect(try await store.artifact(tenantID: "acme", userID: "usr_b", name: "plan") == nil)
            #expect(try await store.artifacts(tenantID: "acme", userID: "usr_a", limit: 5).count == 1)

            func move(_ version: Int64, _ from: ArtifactRecord.State, _ to: ArtifactRecord.State) async throws -> Bool {
                try await store.transition(
                    tenantID: "acme", userID: "usr_a", name: "plan", version: version, from: from, to: to,
                    at: Sample.now) != nil
            }
            #expect(try await move(2, .draft, .active) == false)
            #expect(try await move(3, .draft, .active))
            #expect(try await move(3, .draft, .active) == false)
            #expect(try await store.artifact(tenantID: "acme", userID: "usr_a", name: "plan")?.state == .active)
        }
    }

    @Test("Counters add up within their window and forget outside it", arguments: Backend.available)
    func counters(_ backend: Backend) async throws {
        try await backend.withStore { store in
            func count(_ adding: Int64, at offset: Int64, key: String = "k") async throws -> Int64 {
                try await store.count(key: key, adding: adding, window: 60_000, now: Sample.now + offset)
            }
            #expect(try await count(0, at: 0) == 0)
            #expect(try await count(2, at: 0) == 2)
            #expect(try await count(3, at: 30_000) == 5)
            #expect(try await count(1, at: 30_000, key: "other") == 1)
            #expect(try await count(0, at: 59_999) == 5)
            #expect(try await count(0, at: 61_001) == 3)
            #expect(try await count(0, at: 92_000) == 0)
            _ = try await store.expireSessions(now: Sample.now + 200_000, limit: 10)
            #expect(try await count(0, at: 0) == 0)
        }
    }

}
