/// The change log: a table with one row for each transaction that other nodes have to hear of.
///
/// A notification inside a transaction makes PostgreSQL commit one such transaction at a time, in the whole cluster. A
/// row does not. Readers find the rows that have become visible since their last look: those of transactions that
/// began after it, and those of transactions that were running then. A long transaction therefore neither hides a
/// change nor delays the others, and the numbers are 64 bits wide, so they do not wrap around.
///
/// The table is not logged: PostgreSQL empties it when it recovers from a crash, and a standby has none of its rows.
/// Either breaks the connections of all nodes, which then read everything again.
enum PostgresChangeLog {
    /// The channel of notifications without content that tell the readers to look. They are sent outside of
    /// transactions that write, and at most every ``PostgresListener/pause``.
    static let wakeChannel = "gatehouse_wake"

    static let schema = [
        """
        CREATE UNLOGGED TABLE IF NOT EXISTS change_log (seq BIGINT GENERATED ALWAYS AS IDENTITY,
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(), logged_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
        origin TEXT NOT NULL, payload TEXT NOT NULL)
        """,
        "CREATE INDEX IF NOT EXISTS change_log_by_transaction ON change_log (xid)",
    ]

    /// Adds the changes of one transaction, as its last statement, so that the rows of one session are numbered in the
    /// order of their commits: a later writer waits for the session's row.
    static let append = "INSERT INTO change_log (origin, payload) VALUES (?1, ?2)"

    /// The server's time in ms.
    static let time = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

    /// The present snapshot, without content, and the server's time in ms.
    static let position = "SELECT CAST(pg_current_snapshot() AS TEXT), \(time)"

    /// A number that is higher than those of all transactions that have one.
    static let number = "SELECT CAST(pg_current_xact_id() AS TEXT)"

    /// First the present snapshot and, negative, the server's time in ms; then what other nodes have added since the
    /// snapshot `?1`.
    ///
    /// No transaction of this server has a number that it has not given out yet. Rows with one came with a copy of
    /// another server's database.
    static let news = """
        WITH former AS MATERIALIZED (SELECT CAST(CAST(?1 AS TEXT) AS pg_snapshot) AS snapshot),
        found AS (SELECT seq, payload FROM change_log WHERE origin <> ?2
        AND xid >= (SELECT pg_snapshot_xmax(snapshot) FROM former)
        AND xid < pg_snapshot_xmax(pg_current_snapshot())
        UNION ALL SELECT seq, payload FROM change_log WHERE origin <> ?2
        AND xid = ANY (ARRAY(SELECT pg_snapshot_xip(snapshot) FROM former)))
        SELECT CAST(pg_current_snapshot() AS TEXT), -\(time) AS place
        UNION ALL SELECT payload, seq FROM found ORDER BY place
        """

    /// Removes rows that the snapshot `?1` shows, of ``SettledSnapshots``, and passes over those that another node is
    /// removing. Transactions that hang keep no rows but their own. Rows that came with a copy of another server's
    /// database go as well.
    ///
    /// The rows must be old by the server's clock, too: after a failover, which this node may not have noticed yet, new
    /// transactions may have numbers that the snapshot of the former server shows.
    static let forget = """
        WITH settled AS MATERIALIZED (SELECT CAST(CAST(?1 AS TEXT) AS pg_snapshot) AS snapshot)
        DELETE FROM change_log WHERE ctid = ANY (ARRAY(SELECT ctid FROM change_log
        WHERE (xid >= pg_snapshot_xmax(pg_current_snapshot())
        OR (xid < (SELECT pg_snapshot_xmax(snapshot) FROM settled)
        AND pg_visible_in_snapshot(xid, (SELECT snapshot FROM settled))))
        AND logged_at < clock_timestamp() - INTERVAL '1 minute' LIMIT 20000 FOR UPDATE SKIP LOCKED))
        """

    /// The number below which all transactions had ended at the time of a snapshot.
    static func xmin(of snapshot: String) -> UInt64? {
        snapshot.split(separator: ":", omittingEmptySubsequences: false).first.flatMap { UInt64($0) }
    }

    /// The text of a row: one change per line. A change that cannot be written is replaced by a reset, which makes the
    /// readers read everything again.
    static func payload(_ changes: [Change]) -> String {
        changes.map { change in
            let line = change.text
            return line.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\n") } ? Change.reset.text : line
        }.joined(separator: "\n")
    }

    /// The changes of a row.
    static func changes(in payload: String) -> [Change] {
        payload.split(separator: "\n", omittingEmptySubsequences: true).map { Change(text: $0) }
    }
}
