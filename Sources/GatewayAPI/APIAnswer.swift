import Encodings
import HTTPTypes

/// The answer of a route that does not refuse. The edge adds `Date`, `X-Request-Id`, the length and what concerns the
/// connection.
package struct APIAnswer: Sendable {
    /// The status.
    package var status: HTTPResponse.Status = .ok
    /// `Content-Type`; nil for an answer without a body.
    package var contentType: String? = "application/json"
    /// `Cache-Control`. Only public documents have another value.
    var cacheControl = "no-store"
    /// The body.
    package var body: [UInt8] = []
    /// Further fields, in the order in which they are sent.
    package var headers: [(name: String, value: String)] = []

    /// An answer with status 200 and a JSON object.
    package static func json(_ object: JSONObject) -> APIAnswer {
        APIAnswer(body: JSONValue.object(object).serializedBytes())
    }

    /// An answer with status 201 and a JSON object. For something new that has no address of its own.
    static func created(_ object: JSONObject) -> APIAnswer {
        var answer = json(object)
        answer.status = .created
        return answer
    }

    /// 303: a browser goes on with a GET, whatever it sent here. The address that it was at may have a code in it, so it
    /// is not told.
    static func redirect(to location: String) -> APIAnswer {
        APIAnswer(
            status: .seeOther, contentType: nil,
            headers: [("Location", location), ("Referrer-Policy", "no-referrer")])
    }

    /// An answer with status 204. For a change that leaves nothing to tell.
    static var noContent: APIAnswer { APIAnswer(status: .noContent, contentType: nil) }
}
