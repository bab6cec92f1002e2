import Encodings

/// The credentials of a user who has signed in.
struct Member: Sendable {
    let accessToken: String
    let refreshToken: String?
    let sessionID: String?
    let secret: String?
    let userID: String?
    let lifetime: Int64?
    /// The cookies that the login set, as a browser sends them.
    let cookies: String

    init?(_ response: RawResponse) {
        guard case .success(let object) = Result(catching: { try StrictJSON.object(response.content) }),
            let token = object["access_token"]?.stringValue
        else { return nil }
        accessToken = token
        refreshToken = object["refresh_token"]?.stringValue
        sessionID = object["session_id"]?.stringValue
        secret = object["session_secret"]?.stringValue
        userID = object["user_id"]?.stringValue
        lifetime = object["expires_in"]?.int64Value
        cookies = response.fields("set-cookie").map { $0.prefix { $0 != ";" } }.joined(separator: "; ")
    }
}
