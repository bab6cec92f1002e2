import GRDB

/// Translates SQLite's errors. The message contains neither SQL nor parameters.
extension StateSurfaceError {
    init(sqlite error: any Error) {
        switch error {
        case let error as StateSurfaceError: self = error
        case let error as DatabaseError: self.init(error)
        default: self.init(.failed, "the embedded database failed: \(type(of: error))")
        }
    }

    private init(_ error: DatabaseError) {
        let extended = error.extendedResultCode
        let detail = "SQLite \(extended)"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.corrupt, "the state file is damaged (\(detail))")
        case .SQLITE_FULL:
            self.init(.full, "no space is left for the state file (\(detail))")
        case .SQLITE_CONSTRAINT
        where extended == .SQLITE_CONSTRAINT_PRIMARYKEY || extended == .SQLITE_CONSTRAINT_UNIQUE:
            self.init(.duplicate, "such a record exists already")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.unavailable, "another process keeps the state file locked (\(detail))")
        case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOMEM,
            .SQLITE_PROTOCOL, .SQLITE_INTERRUPT, .SQLITE_MISUSE, .SQLITE_ABORT:
            self.init(.unavailable, "the state file cannot be used (\(detail))")
        default:
            self.init(.failed, "the embedded database failed (\(detail))")
        }
    }
}
