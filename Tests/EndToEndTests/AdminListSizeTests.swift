import Foundation
import Testing

/// The lists of the operator's API at the size of a large deployment.
@Suite(
    .enabled(if: Program.pythonHas("sqlite3"), "needs python3 with sqlite3"),
    .heavy("it writes and reads a list of 50,000 sessions"))
struct AdminListSizeTests {
    private static let count = 50_000

    /// Copies the one session of a store, each copy with an id and a secret of its own.
    private static let copies = """
        import os, secrets, sqlite3, sys
        store = sqlite3.connect(sys.argv[1], timeout=30)
        names = [row[1] for row in store.execute("PRAGMA table_info(sessions)")]
        row = store.execute("SELECT * FROM sessions").fetchone()
        def copy():
            fresh = {"id": "ses_" + secrets.token_urlsafe(16), "secret_hash": os.urandom(32)}
            return [fresh.get(name, value) for name, value in zip(names, row)]
        marks = ", ".join("?" * len(names))
        with store:
            store.executemany(f"INSERT INTO sessions VALUES ({marks})", (copy() for _ in range(int(sys.argv[2]))))
        """

    @Test("50,000 sessions come page by page, and as lines that a reader may take slowly, in bounded memory")
    func sessions() async throws {
        let path = "/tmp/gh-\(UUID().uuidString.prefix(8)).sock"
        let gateway = try await GatewayProcess.start(
            "limits: {enabled: false}", environment: ["GATEHOUSE_SERVER_ADMIN": "unix:\(path)"])
        defer { gateway.stop() }
        expectStatus(try gateway.request("POST", "/api/session/create-anonymous"), 200)
        let copied = try Program.run(
            "python3",
            ["-c", Self.copies, gateway.directory.appendingPathComponent("state.sqlite").path, "\(Self.count - 1)"])
        #expect(copied.status == 0, "\(copied.errors)")

        let before = try gateway.residentMemory()
        let slow = try RawSocket(unixPath: path)
        try slow.send("GET /api/admin/sessions HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n")
        #expect(slow.isReadable(within: Int32(RawSocket.patience) * 1_000))

        // While one reader takes nothing, another one reads it all, and users are served.
        let ids = try AdminProbe(path: path).all("sessions", limit: 1_000).compactMap { $0["id"] as? String }
        #expect(ids.count == Self.count && ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(try gateway.login(.ada).outcome == "created")
        let grown = try gateway.residentMemory() - before
        #expect(grown < 32 * 1_024, "\(grown) KiB")

        let lines = try slow.response().text.split(separator: "\n")
        // The session that was made meanwhile may be among them.
        #expect(lines.count == Self.count || lines.count == Self.count + 1)
        let listed = Set(lines.compactMap(Self.id(of:)))
        #expect(listed.count == lines.count && listed.isSuperset(of: ids))
    }

    private static func id(of line: Substring) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["id"] as? String
    }
}
