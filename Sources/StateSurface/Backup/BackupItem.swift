/// One piece of a copy of a store, the same for both databases.
package enum BackupItem: Sendable, Equatable {
    /// A value of a row.
    package enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])
    }

    /// The rows that follow are of this table, with these columns.
    case table(String, columns: [String])
    case row([Value])
}
