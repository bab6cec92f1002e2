import BasicsForTests
import Dispatch
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("Copying a store that is written to")
struct BackupCopyTests {
    /// A copy that stops before its second item until it may go on.
    private final class HeldCopy: Sendable {
        private let taken = Mutex<[BackupItem]>([])
        private let gate = DispatchSemaphore(value: 0)
        private let isDone = Atomic(false)

        var items: [BackupItem] { taken.withLock { $0 } }
        var hasBegun: Bool { !items.isEmpty }

        func take(_ item: BackupItem) {
            let count = taken.withLock { taken in
                taken.append(item)
                return taken.count
            }
            if count == 1 { gate.wait() }
        }

        func goOn() { gate.signal() }

        /// Adds pairs from this number on until the copy is done.
        func write(from first: Int, to store: any StateSurface) async throws {
            var index = first
            while !isDone.load(ordering: .sequentiallyConsistent) {
                try await BackupCopyTests.addPair(index, to: store)
                index += 1
            }
        }

        func endWriting() { isDone.store(true, ordering: .sequentiallyConsistent) }

        /// How many rows of each table it has.
        var rows: [String: Int] {
            var (rows, table) = ([String: Int](), "")
            for item in items {
                switch item {
                case .table(let name, _): table = name
                case .row: rows[table, default: 0] += 1
                }
            }
            return rows
        }
    }

    /// How many sessions with their families there are when the copy begins.
    private static let before = 100

    /// A family and its home session, in one transaction.
    private static func addPair(_ index: Int, to store: any StateSurface) async throws {
        var family = Sample.family("fam_\(index)", home: "ses_\(index)")
        family.currentHash = Array("token \(index)".utf8)
        let session = Sample.session("ses_\(index)", family: family.id, secret: index)
        try await store.transaction { [family] transaction in
            try transaction.insert(family: family, judged: JudgedOwner())
            try transaction.insert(session: session)
        }
    }

    private static func backup(of store: any StateSurface) throws -> any BackupStore {
        let backup = store as? any BackupStore
        return try #require(backup)
    }

    @Test(
        "A copy is of one moment, whatever is written while it is made, and fills a store with whole pairs",
        arguments: Backend.available, Backend.available)
    func oneMoment(_ source: Backend, _ target: Backend) async throws {
        let copy = HeldCopy()
        let version = try await source.withStore { store in
            for index in 0..<Self.before { try await Self.addPair(index, to: store) }
            let backup = try Self.backup(of: store)
            let copying = Task { try await backup.copy { copy.take($0) } }
            defer { copy.goOn() }
            #expect(try await eventually(within: .seconds(60)) { copy.hasBegun })
            // Written while the copy stands still, before it has read any of these tables; more while it goes on.
            for index in Self.before..<2 * Self.before { try await Self.addPair(index, to: store) }
            let writing = Task { try await copy.write(from: 2 * Self.before, to: store) }
            copy.goOn()
            let copied = await copying.result
            copy.endWriting()
            try copied.get()
            try await writing.value
            return backup.schemaVersion
        }
        for table in ["sessions", "families", "refresh_tokens"] { #expect(copy.rows[table] == Self.before, "\(table)") }
        try await restore(copy.items, version: version, into: target)
    }

    private func restore(_ items: [BackupItem], version: Int, into target: Backend) async throws {
        try await target.withStore { store in
            let backup = try Self.backup(of: store)
            try await backup.restore(version: version) {
                var rest = items.makeIterator()
                return AnyIterator { rest.next().map { .success($0) } }
            }
            let sessions = try await store.sessions(userID: nil, liveAt: nil, limit: 10 * Self.before)
            #expect(Set(sessions.map(\.id)) == Set((0..<Self.before).map { "ses_\($0)" }))
            for session in sessions {
                let familyID = try #require(session.familyID)
                #expect(try await store.family(id: familyID)?.binding == session.id)
            }
            // It takes writes as any other store does.
            try await Self.addPair(Self.before, to: store)
        }
    }
}
