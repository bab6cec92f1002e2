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
