import Answers
import Encodings

/// One request to the operator's API while it is being answered.
struct AdminCall: Sendable {
    let services: AdminServices
    let request: AdminRequest
    let caller: AdminCaller
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

    /// Cuts a list that is in memory to the page after a cursor. The entries are in the order of their cursors' numbers.
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

/// The form of request ids, which name refusals and connections.
enum RequestIDText {
    /// Whether a text is `req_` and 21 digits in base 36.
    static func isShaped(_ text: some StringProtocol) -> Bool {
        let digits = text.utf8.dropFirst(4)
        return text.utf8.starts(with: "req_".utf8) && digits.count == 21
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    }
}

/// The query of a request to the operator's API.
enum AdminQuery {
    private static let most = 16

    /// The parameters, decoded.
    /// - Throws: `invalid_request` for a parameter that is not among `known`, is given twice, or has a broken escape.
    static func read(_ text: String?, known: [String]) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        guard let text, !text.isEmpty else { return values }
        let pairs = text.split(separator: "&", maxSplits: most)
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pairs.count <= most, let name = parts.first.map(String.init), known.contains(name) else {
                let names = known.isEmpty ? "none" : known.joined(separator: ", ")
                throw Problem(.invalidRequest, detail: "Query parameters here: \(names).", reason: "query")
            }
            guard values[name] == nil, let value = decoded(parts.count == 2 ? parts[1] : "") else {
                throw Problem(.invalidRequest, detail: "'\(name)' is given twice or malformed.", reason: "query")
            }
            values[name] = value
        }
        return values
    }

    /// The text without its escapes; nil for a broken one, or for what is not UTF-8 or has control characters.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
