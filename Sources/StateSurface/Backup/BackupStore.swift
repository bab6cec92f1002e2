/// A store that can be copied and filled.
package protocol BackupStore: Sendable {
    /// The version of the schema that the copy is of.
    var schemaVersion: Int { get }

    /// Gives everything in the store, as it was at one moment, to `take`. Writes go on meanwhile.
    ///
    /// - Throws: the store's error, or what `take` throws.
    func copy(to take: @escaping @Sendable (BackupItem) throws -> Void) async throws

    /// Fills an empty store, in one transaction.
    ///
    /// - Parameters:
    ///   - version: the schema version of the copy; an older one is migrated.
    ///   - items: makes the items from the first on. Called again when the transaction has to be repeated.
    /// - Throws: ``StateSurfaceError`` where the store is not empty, or the copy is of a newer version or of another
    ///   kind.
    func restore(
        version: Int, from items: @escaping @Sendable () throws -> AnyIterator<Result<BackupItem, any Error>>
    ) async throws
}
