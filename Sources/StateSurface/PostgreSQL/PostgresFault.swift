/// Translates PostgreSQL's errors.
extension StateSurfaceError {
    init(postgres error: any Error) {
        switch error {
        case let error as StateSurfaceError: self = error
        case let fault as PostgresFault: self.init(fault)
        default: self.init(.failed, "PostgreSQL failed: \(type(of: error))")
        }
    }

    private init(_ fault: PostgresFault) {
        switch fault {
        case .unreachable(let why): self.init(.unavailable, "PostgreSQL cannot be reached: \(why)")
        case .lost(let why): self.init(.unavailable, "the connection to PostgreSQL was lost: \(why)")
        case .silent: self.init(.unavailable, "PostgreSQL does not answer")
        case .commitUnknown: self.init(.unavailable, "the connection to PostgreSQL was lost while committing")
        case .refused(let sqlState): self.init(sqlState: sqlState)
        }
    }

    /// The codes of PostgreSQL's Appendix A, some by class.
    private init(sqlState: String) {
        let detail = "SQLSTATE \(sqlState)"
        switch (sqlState, sqlState.prefix(2)) {
        case ("23505", _):
            self.init(.duplicate, "such a record exists already")
        case ("53100", _):
            self.init(.full, "PostgreSQL has no space left (\(detail))")
        case ("42501", _), ("3D000", _), ("3F000", _), (_, "28"):
            self.init(.misconfigured, "PostgreSQL does not let this user in or lacks a right (\(detail))")
        case ("25006", _), ("40001", _), ("40P01", _), ("55P03", _), (_, "08"), (_, "53"), (_, "57"), (_, "58"):
            self.init(.unavailable, "PostgreSQL cannot do it now (\(detail))")
        case ("XX001", _), ("XX002", _):
            self.init(.corrupt, "PostgreSQL reports damaged data (\(detail))")
        default:
            self.init(.failed, "PostgreSQL refused a statement (\(detail))")
        }
    }
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
