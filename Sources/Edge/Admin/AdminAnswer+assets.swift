import AdminAPI
import Answers
import Web

extension AdminAnswer {
    /// A plain text.
    ///
    /// - Parameter text: ends with a line break, for terminals.
    static func text(_ status: Int, _ text: String) -> AdminAnswer {
        AdminAnswer(
            status: status, fields: [("Content-Type", "text/plain; charset=utf-8")], body: .whole(Array(text.utf8)))
    }

    /// A refusal in plain text, with the status of its code.
    ///
    /// - Parameter text: ends with a line break, for terminals.
    static func text(_ code: ProblemCode, _ text: String) -> AdminAnswer { .text(Problem(code).status, text) }

    /// 405 with the methods that there are (RFC 9110 section 15.5.6).
    static func methodNotAllowed(_ methods: String) -> AdminAnswer {
        var answer = AdminAnswer.text(.methodNotAllowed, "method not allowed\n")
        answer.fields.append(("Allow", methods))
        return answer
    }

    /// A file of the operator's pages; nil where there is none at this path.
    ///
    /// - Parameter path: as the request has it; compared whole.
    init?(asset path: String) {
        guard let asset = WebAssets.adminAsset(for: path) else { return nil }
        self.init(
            status: 200, fields: asset.headers + [("Content-Type", asset.contentType), ("ETag", asset.etag)],
            body: .whole(asset.bytes))
    }
}
