/// The answer to one statement.
struct PostgresAnswer {
    var rows: [SQLRow] = []
    var changed = 0
    /// The command tag, such as `COMMIT`.
    var tag = ""
}

/// A notification of the one channel that is listened to. It has no content.
struct PostgresNotification {
    /// The number of the server process that sent it.
    let backendID: CInt
}
