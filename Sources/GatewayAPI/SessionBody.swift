import Encodings
import Runtime

/// A session in an answer of the API.
enum SessionBody {
    /// What the session shows of itself, and its secret where one is handed out in the body.
    static func json(_ session: SessionSnapshot, secret: String?) -> JSONObject {
        var object = session.json()
        if let secret { object["session_secret"] = .string(secret) }
        return object
    }
}
