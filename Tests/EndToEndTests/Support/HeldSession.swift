/// A session and the secret that opens it.
struct HeldSession: Sendable {
    let id: String
    let secret: String

    init(_ json: [String: Any]) {
        id = json["session_id"] as? String ?? ""
        secret = json["session_secret"] as? String ?? ""
    }

    var field: (String, String) { ("Session-Secret", secret) }
}

extension HeldSession {
    init(_ login: LoggedIn) {
        self.init(["session_id": login.sessionID, "session_secret": login.sessionSecret])
    }
}
