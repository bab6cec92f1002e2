import Answers
import Encodings

/// An answer of the operator's API.
package struct AdminAnswer: Sendable {
    /// Its body.
    package enum Body: Sendable {
        case none
        /// All of it.
        case whole([UInt8])
        /// JSON objects, one a line, which are made while they are sent.
        case lines(AdminLines)
    }

    /// The status code.
    package var status: Int
    /// The fields, except those of framing.
    package var fields: [(name: String, value: String)]
    /// The body.
    package var body: Body

    package init(status: Int, fields: [(name: String, value: String)], body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer with status 200 and a JSON object.
    static func json(_ object: JSONObject) -> AdminAnswer {
        AdminAnswer(
            status: 200, fields: [("Content-Type", "application/json")],
            body: .whole(JSONValue.object(object).serializedBytes()))
    }

    /// An answer with status 204.
    static let noContent = AdminAnswer(status: 204, fields: [], body: .none)

    /// A refusal.
    static func refusal(_ problem: Problem, id: String, explain: Bool) -> AdminAnswer {
        AdminAnswer(
            status: problem.status, fields: problem.answerHeaders().filter { $0.name != "Cache-Control" },
            body: .whole(problem.body(requestID: id, explain: explain)))
    }
}

/// The entries of a list, page after page, for a caller that wants all of them.
package struct AdminLines: Sendable {
    /// The entries of one page, and where the next one begins.
    typealias Read = @Sendable (_ after: String?, _ limit: Int) async throws -> AdminPage
    /// How many entries are read at once.
    static let size = 500

    let first: AdminPage
    let read: Read

    /// Calls `write` with the lines of each page; each page is read when the one before has been written.
    ///
    /// - Throws: what reading or `write` throws.
    package func write(_ write: ([UInt8]) async throws -> Void) async throws {
        var page = first
        while true {
            var bytes: [UInt8] = []
            for entry in page.entries {
                bytes += JSONValue.object(entry).serializedBytes()
                bytes.append(UInt8(ascii: "\n"))
            }
            if !bytes.isEmpty { try await write(bytes) }
            guard let next = page.next else { return }
            page = try await read(next, Self.size)
        }
    }
}

/// One page of a list.
struct AdminPage: Sendable {
    var entries: [JSONObject]
    /// The cursor of the next page; nil after the last one.
    var next: String?
}
