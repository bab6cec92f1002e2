import Testing

@testable import StateSurface

@Suite("A session read and replaced in one step, on both databases")
struct SessionChangeConformanceTests {
    /// What the tests decide: one more epoch, if the session is there and live.
    @Sendable private static func raise(_ stored: SessionRecord?) -> (next: SessionRecord?, outcome: Int64?) {
        guard var next = stored, next.state.isLive else { return (nil, stored?.epoch) }
        next.epoch += 1
        return (next, next.epoch)
    }

    @Test("The decision sees what is stored, and what it wants is written", arguments: Backend.available)
    func decides(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session())
            let recorder = ChangeRecorder(store)
            let outcome = try await store.change(sessionID: "ses_a") { Self.raise($0) }
            #expect(outcome == .some(1))
            let stored = try #require(try await store.session(id: "ses_a"))
            #expect(stored.epoch == 1 && stored.version == 1)
            #expect(recorder.changes == [.session(id: "ses_a", state: .anonymous, epoch: 1)])
        }
    }

    @Test("Nothing is written or told where the decision wants nothing", arguments: Backend.available)
    func leaves(_ backend: Backend) async throws {
        try await backend.withStore { store in
            var session = Sample.session()
            session.state = .ended
            try await store.insert(session: session)
            let recorder = ChangeRecorder(store)
            for id in ["ses_a", "ses_unknown", "ses_\0"] {
                let outcome = try await store.change(sessionID: id) { stored in
                    let raised = Self.raise(stored)
                    return (next: raised.next, outcome: stored?.id)
                }
                #expect(outcome == .some(id == "ses_a" ? "ses_a" : nil))
            }
            #expect(try await store.session(id: "ses_a") == session)
            #expect(recorder.changes.isEmpty)
        }
    }

    @Test("Of many at once none overwrites what another wrote", arguments: Backend.available)
    func linear(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session())
            let epochs = try await withThrowingTaskGroup(of: Int64.self) { group -> [Int64] in
                for _ in 0..<24 {
                    group.addTask {
                        while true {
                            if let epoch = try await store.change(sessionID: "ses_a", { Self.raise($0) }) {
                                return epoch ?? 0
                            }
                        }
                    }
                }
                var epochs: [Int64] = []
                for try await epoch in group { epochs.append(epoch) }
                return epochs
            }
            #expect(epochs.sorted() == Array(1...24))
            #expect(try await store.session(id: "ses_a")?.version == 24)
        }
    }

    @Test("What is changed to belong to a family that has ended stays as it is", arguments: Backend.available)
    func closedFamily(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session())
            try await store.insert(family: Sample.family())
            _ = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 1)
            await #expect(throws: StateSurfaceError.ownerGone) {
                _ = try await store.change(sessionID: "ses_a") { stored in
                    var next = stored
                    next?.state = .authenticated
                    next?.tenantID = "acme"
                    next?.userID = "usr_a"
                    next?.familyID = "fam"
                    return (next: next, outcome: true)
                }
            }
            #expect(try await store.session(id: "ses_a")?.state == .anonymous)
        }
    }
}
