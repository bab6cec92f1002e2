import Encodings
import Runtime

/// A session in an answer of the API.
enum SessionBody {
    /// The public members of the session, and its secret where it is returned in the body.
    ///
    /// - Parameter secret: nil where it is sent as a cookie, or not at all.
    static func json(_ session: SessionSnapshot, secret: String?) -> JSONObject {
        var object = session.json()
        if let secret { object["session_secret"] = .string(secret) }
        return object
    }
}
