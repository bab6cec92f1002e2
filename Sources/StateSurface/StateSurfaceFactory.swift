/// Opens the store named by a URL.
package enum StateSurfaceFactory {
    /// Opens the store, and creates or migrates its tables.
    ///
    /// - Parameters:
    ///   - url: `sqlite:PATH`, `postgres://…` or `postgresql://…`
    ///   - clock: the time in Unix milliseconds.
    ///   - sqliteGroup: the largest number of concurrent writes in one commit.
    /// - Throws: ``StateSurfaceError``.
    package static func open(
        url: String, clock: @escaping @Sendable () -> Milliseconds, sqliteGroup: Int = 256
    ) async throws -> any StateSurface {
        switch StoreURL(url) {
        case .sqlite: SQLSurface(engine: try SQLiteEngine(url: url, group: sqliteGroup), clock: clock)
        case .postgres: SQLSurface(engine: try await PostgresEngine(url: url), clock: clock)
        case nil: throw unknownURL
        }
    }

    /// The URL is not quoted, because it may contain a password.
    static let unknownURL = StateSurfaceError(
        .misconfigured, "the state URL must be sqlite:PATH or postgres://HOST/DATABASE")

    /// The path of an embedded store that does not exist, so that opening it would create a new one. Nil if it exists,
    /// or for a URL of another kind.
    ///
    /// - Throws: ``StateSurfaceError`` if the file can't be examined.
    package static func missingFile(url: String) throws(StateSurfaceError) -> String? {
        guard case .sqlite = StoreURL(url), let path = try? SQLiteFile.path(ofURL: url) else { return nil }
        return try SQLiteFile.isMissing(path) ? path : nil
    }
}
