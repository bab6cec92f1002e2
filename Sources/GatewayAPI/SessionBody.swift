import Encodings
import Runtime

/// A session in an answer of the API.
enum SessionBody {
    /// The public members of a session that was made or upgraded, and its secret as `delivery` returns it: in the body
    /// or as a cookie.
    static func answer(_ issued: IssuedSession, _ delivery: SecretDelivery) -> APIAnswer {
        var object = issued.session.json()
        if let text = delivery.deliver(issued.secret, of: issued.session) { object["session_secret"] = .string(text) }
        return .json(object)
    }
}
