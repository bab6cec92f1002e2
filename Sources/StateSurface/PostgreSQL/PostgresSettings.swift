/// The connection settings, and the initial commands of each connection.
struct PostgresSettings: Sendable {
    let url: String

    init(url: String) throws {
        // Neither the URL, which may contain a password, nor libpq's message, which may quote it, is passed on.
        guard !url.utf8.contains(0), Connection.isReadable(url: url) else {
            throw StateSurfaceError(
                .misconfigured, "the state URL cannot be read; write postgres://USER:PASSWORD@HOST:PORT/DATABASE")
        }
        self.url = url
    }

    /// In libpq the last value counts: those before `dbname` are defaults that the URL may change.
    private var parameters: [(String, String)] {
        [
            ("fallback_application_name", "gatehouse"),
            ("connect_timeout", "3"),
            ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "6000"),
            ("target_session_attrs", "read-write"),
            ("dbname", url),
            ("client_encoding", "UTF8"),
        ]
    }

    func withCStrings<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        var memory: [CChar] = []
        func place(_ text: String) -> Int {
            defer { memory += text.utf8CString }
            return memory.count
        }
        let keys = parameters.map { place($0.0) }
        let values = parameters.map { place($0.1) }
        return memory.withUnsafeBufferPointer { memory in
            func pointers(_ offsets: [Int]) -> [UnsafePointer<CChar>?] {
                offsets.map { memory.baseAddress?.advanced(by: $0) } + [nil]
            }
            return pointers(keys).withUnsafeBufferPointer { keys in
                pointers(values).withUnsafeBufferPointer { values in
                    body(keys.baseAddress, values.baseAddress)
                }
            }
        }
    }

    /// The schema of the tables, separate from those of an application in the same database.
    static let schema = "gatehouse"

    /// Connects and sets up the session.
    ///
    /// The time for locks is shorter than PostgreSQL's `deadlock_timeout`: of transactions that wait for each other,
    /// one gives way before the server looks for deadlocks. ``PostgresWriter`` then runs its writes again by
    /// themselves.
    ///
    /// `synchronous_commit` is only made stricter, never weaker than the operator's setting.
    ///
    /// The isolation is set whatever the server's default is: who has waited for a lock has to see what its holder has
    /// committed, which a snapshot of the whole transaction would not show.
    ///
    /// - Parameter patience: the deadline for each statement, these among them.
    func connect(patience: Duration = .seconds(7)) throws -> Connection {
        let connection = try Connection(self)
        connection.patience = patience
        _ = try connection.run(
            """
            SET search_path TO \(Self.schema); SET statement_timeout = 5000; SET lock_timeout = 250;
            SET default_transaction_isolation = 'read committed';
            SET idle_in_transaction_session_timeout = 15000;
            SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
            """)
        return connection
    }
}
