import Answers
import Encodings

/// One request to the operator's API while it is being answered.
struct AdminCall: Sendable {
    let services: AdminServices
    let request: AdminRequest
    let caller: AdminCaller
    /// The path of its route, as the audit log has it: without the id.
    let path: String
    /// The `{id}` of the path.
    let pathID: String
    /// The parameters of the query, decoded.
    let query: [String: String]

    /// The name of the caller as the audit log has it (`operator`).
    var operatorName: String {
        switch caller {
        case .subject(let subject): subject
        case .user(let number): SystemUser.name(of: number)
        }
    }

    /// Records what the operator did.
    func record(_ event: String, _ members: JSONObject = [:]) {
        var line = members
        line["operator"] = .string(operatorName)
        line["request_id"] = .string(request.id)
        line["client"] = .string(request.peer.text)
        line["path"] = .string(path)
        services.audit(event, line)
    }

    /// Answers with a list: one page of it, or all of it as lines where the caller asks for these.
    func list(_ name: String, _ read: @escaping AdminLines.Read) async throws -> AdminAnswer {
        let after = query["after"]
        if request.accept?.contains("application/x-ndjson") == true {
            _ = try limit()
            // The first page is read before the answer begins, so that a fault of the query is a problem document.
            let lines = AdminLines(first: try await read(after, AdminLines.size), read: read)
            return AdminAnswer(
                status: 200, fields: [("Content-Type", "application/x-ndjson")], body: .lines(lines))
        }
        let page = try await read(after, try limit())
        return .json([
            name: .array(page.entries.map(JSONValue.object)), "next": page.next.map(JSONValue.string) ?? .null,
        ])
    }

    private func limit() throws(Problem) -> Int {
        guard let text = query["limit"] else { return 100 }
        guard let limit = Int(text), (1...1_000).contains(limit) else {
            throw Problem(.invalidRequest, detail: "'limit' must lie between 1 and 1000.", reason: "limit")
        }
        return limit
    }

    /// Cuts a list that is in memory to the page after a cursor. The entries are in the order of their cursors'
    /// numbers.
    static func page(_ entries: [JSONObject], after: String?, limit: Int) throws(Problem) -> AdminPage {
        var start = 0
        if let after {
            guard let number = Int(after), number > 0, number <= entries.count else { throw unknownCursor }
            start = number
        }
        let end = min(entries.count, start + limit)
        return AdminPage(
            entries: Array(entries[start..<end]), next: end < entries.count ? String(end) : nil)
    }

    static let unknownCursor = Problem(
        .invalidRequest, detail: "'after' is no cursor of this list.", reason: "cursor")
}
