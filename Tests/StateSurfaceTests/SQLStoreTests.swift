import StateSurfaceTesting
import Testing

@testable import StateSurface

@Suite("What the stores above SQLite and PostgreSQL promise beyond their roles", .serialized)
struct SQLStoreTests {
    @Test("Each store says what it can do", arguments: Backend.available)
    func capabilities(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let isShared = backend == .postgres
            #expect(store.capabilities.isSharedBetweenMachines == isShared)
            #expect(store.capabilities.hasRowLocks == isShared)
            #expect(store.capabilities.name == (isShared ? "postgres" : "sqlite"))
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

    @Test("Several nodes that open an empty store at once all find it ready", arguments: Backend.available)
    func openedAtOnce(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let url = place.url
            let stores = try await withThrowingTaskGroup(of: (any StateSurface).self) { group in
                for _ in 0..<4 {
                    group.addTask { try await StateSurfaceFactory.open(url: url, clock: { 0 }) }
                }
                return try await group.reduce(into: [any StateSurface]()) { $0.append($1) }
            }
            try await stores[0].insert(session: Sample.session())
            for store in stores {
                #expect(try await store.session(id: "ses_a") != nil)
                await store.close()
            }
        }
    }
}
