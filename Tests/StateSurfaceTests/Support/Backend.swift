import Foundation
import PostgresForTests
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

/// Both databases pass the same suite. PostgreSQL is left out where it is not installed.
enum Backend: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, postgres

    static let available: [Backend] = PrivatePostgres.isAvailable ? allCases : [.sqlite]

    var testDescription: String { rawValue }

    /// A fresh, empty place for a store; what it opens is closed and forgotten afterwards.
    func withPlace<Result>(_ body: (Place) async throws -> Result) async throws -> Result {
        let place = try Place(self)
        do {
            let result = try await body(place)
            await place.tidy()
            return result
        } catch {
            await place.tidy()
            throw error
        }
    }

    /// Checks a rule of a role on a fresh store.
    func check<Store>(
        _ rule: StoreRule<Store>, as role: @escaping @Sendable (any StateSurface) -> Store
    ) async throws {
        try await withPlace { place in try await rule.check(StorePlace { role(try await place.open()) }) }
    }

    func withStore<Result>(_ body: (any StateSurface) async throws -> Result) async throws -> Result {
        try await withPlace { try await body($0.open()) }
    }

    /// The engine below a fresh store, with the tables made.
    func withEngine(_ body: (any SQLEngine) async throws -> Void) async throws {
        try await withPlace { place in
            let engine: any SQLEngine =
                switch self {
                case .sqlite: try SQLiteEngine(url: place.url)
                case .postgres: try await PostgresEngine(url: place.url)
                }
            do {
                try await body(engine)
                await engine.close()
            } catch {
                await engine.close()
                throw error
            }
        }
    }
}

/// Where a store lies. Opened twice, it is two nodes of one store.
final class Place: Sendable {
    let url: String
    private let folder: String?
    private let opened = Mutex<[any StateSurface]>([])

    init(_ backend: Backend) throws {
        switch backend {
        case .sqlite:
            let folder = NSTemporaryDirectory() + "gh-state-\(UUID().uuidString)"
            self.folder = folder
            url = "sqlite:\(folder)/deep/state.sqlite"
        case .postgres:
            let cluster = try PrivatePostgres.shared.get()
            folder = nil
            url = cluster.url(database: try cluster.createDatabase())
        }
    }

    func open() async throws -> any StateSurface {
        let store = try await StateSurfaceFactory.open(url: url, clock: { Sample.now })
        opened.withLock { $0.append(store) }
        return store
    }

    func tidy() async {
        for store in opened.withLock({ $0 }) { await store.close() }
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }
}
