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
