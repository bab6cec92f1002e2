/// A transaction on one connection. It is used only inside `PostgresWorker`.
final class PostgresTransaction: SQLTransaction {
    static let channel = "gatehouse_changes"
    /// The limit in bytes of one payload; NOTIFY allows less than 8000.
    private static let payloadLimit = 7000

    let dialect = SQLDialect.postgres
    private(set) var changes: [Change] = []
    private var toSend: [Change] = []
    private let connection: Connection
    private let origin: String

    init(_ connection: Connection, origin: String) {
        self.connection = connection
        self.origin = origin
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        try connection.query(sql, values).rows
    }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
        try connection.query(sql, values).changed
    }

    func post(_ sql: String, _ values: [SQLValue]) throws {
        try connection.post(sql, values)
    }

    func record(_ change: Change, reach: ChangeReach) throws {
        changes.append(change)
        if reach == .everywhere { toSend.append(change) }
    }

    /// Sends the notifications as the last statements before the commit, with which PostgreSQL delivers them.
    func notify() throws {
        for payload in Self.payloads(toSend.map(\.text), origin: origin) {
            try connection.post("SELECT pg_notify('\(Self.channel)', ?1)", [.text(payload)])
        }
    }

    /// The payloads: the origin, then as many changes as fit, one per line.
    static func payloads(_ lines: [String], origin: String) -> [String] {
        var payloads: [String] = []
        var payload = origin
        for line in lines {
            // A line that cannot be sent is replaced by a reset, which makes the receivers read everything again.
            let isPlain = !line.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\n") }
            let line = isPlain && line.utf8.count < payloadLimit / 2 ? line : Change.reset.text
            if payload.utf8.count + line.utf8.count + 1 > payloadLimit {
                payloads.append(payload)
                payload = origin
            }
            payload += "\n" + line
        }
        if payload != origin { payloads.append(payload) }
        return payloads
    }

    /// The changes in a payload.
    ///
    /// - Returns: nil for a payload that this process sent.
    static func changes(inPayload payload: String, except origin: String) -> [Change]? {
        let lines = payload.split(separator: "\n", omittingEmptySubsequences: false)
        guard let sender = lines.first, !sender.utf8.elementsEqual(origin.utf8) else { return nil }
        return lines.dropFirst().map { Change(text: $0) }
    }
}
