/// Why a statement of PostgreSQL failed.
enum PostgresFault: Error {
    /// No connection could be made. The text is libpq's and contains no secret.
    case unreachable(String)
    /// The connection was lost. Whether the statement in progress was executed is unknown.
    case lost(String)
    /// The server did not answer in time. Whether the statement in progress was executed is unknown.
    case silent
    /// The server reported an error.
    case refused(sqlState: String)
    /// The connection was lost during the commit, so these changes may have been committed.
    case commitUnknown([Change])
}

extension PostgresFault {
    /// Whether it is a conflict between transactions, after which the transaction can be run again: a serialisation
    /// failure, a deadlock, or a lock that was not free in time.
    var isCollision: Bool {
        if case .refused(let state) = self { return ["40001", "40P01", "55P03"].contains(state) }
        return false
    }

    /// Whether the prepared statements no longer fit the tables or the server process.
    var isStaleStatement: Bool {
        if case .refused(let state) = self { return state == "0A000" || state == "26000" }
        return false
    }

    /// Whether the connection was lost.
    var isLoss: Bool {
        switch self {
        case .lost, .silent: true
        // The server is shutting down, or has ended an idle transaction.
        case .refused(let state): ["57P01", "57P02", "57P03", "25P03"].contains(state)
        default: false
        }
    }

    /// Whether the connection was probably lost while it was idle, so that the operation can be retried at once.
    var isProbablyStale: Bool {
        if case .silent = self { return false }
        return isLoss
    }
}
