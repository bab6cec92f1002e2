import StateSurface
import Testing

/// One rule that every store of some roles keeps.
///
/// The conformance suite is an enum for each role or for what roles keep together, `SessionStoreConformance` and so on:
/// `Store` names the roles that its rules need, and `rules` are a list of these. A store, real or fake, passes when each
/// holds on a place that is fresh and empty:
///
///     @Test(arguments: SessionStoreConformance.rules)
///     func conforms(rule: StoreRule<SessionStoreConformance.Store>) async throws {
///         let store = MyStore()
///         try await rule.check(StorePlace { store })
///     }
///
/// A store that has all roles runs every enum of this folder, as `ConformanceTests` does for the databases. One that has
/// some of them runs every enum whose `Store` it conforms to, as `MemoryStoreTests` does for ``MemoryStore``.
/// CONTRIBUTING.md lists what else a new store touches.
package struct StoreRule<Store: Sendable>: Sendable, CustomTestStringConvertible {
    /// The rule in a sentence.
    package let name: String
    private let body: @Sendable (StorePlace<Store>) async throws -> Void

    /// A rule about what several nodes see.
    package init(_ name: String, _ body: @escaping @Sendable (StorePlace<Store>) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// A rule about one store.
    package init(_ name: String, _ body: @escaping @Sendable (Store) async throws -> Void) {
        self.name = name
        self.body = { place in try await body(place.open()) }
    }

    package func check(_ place: StorePlace<Store>) async throws { try await body(place) }

    package var testDescription: String { name }
}

/// Where a store lies. Opened again, it is another node of the same store; a store that lives in one object gives that
/// object every time.
package struct StorePlace<Store: Sendable>: Sendable {
    private let opening: @Sendable () async throws -> Store

    package init(_ opening: @escaping @Sendable () async throws -> Store) {
        self.opening = opening
    }

    package func open() async throws -> Store { try await opening() }
}
