import Foundation

/// Requests as curl would send them.
extension GatewayUnderTest {
    /// One request on a connection of its own.
    func request(
        _ method: String, _ path: String, headers: [(String, String)] = [], json: Any? = nil, body: String? = nil
    ) throws -> RawResponse {
        let socket = try RawSocket(port: port)
        var fields = headers
        var payload = body
        if let json {
            payload = String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self)
            if !fields.contains(where: { $0.0.lowercased() == "content-type" }) {
                fields.append(("Content-Type", "application/json"))
            }
        }
        var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for field in fields { text += "\(field.0): \(field.1)\r\n" }
        if let payload { text += "Content-Length: \(payload.utf8.count)\r\n" }
        try socket.send(text + "\r\n" + (payload ?? ""))
        return try socket.response(toHead: method == "HEAD")
    }

    /// Logs in without a session; the answer's members.
    func login(_ user: TestUser, headers: [(String, String)] = []) throws -> LoggedIn {
        let answer = try request(
            "POST", "/api/auth/login", headers: headers, json: ["email": user.email, "password": user.password])
        guard answer.status == 200 else { throw Failure(description: "login: \(answer.status) \(answer.text)") }
        return LoggedIn(answer.json)
    }

    /// The control request: a good token must still be served.
    func isHealthy(_ token: String) throws -> Bool {
        try request("GET", "/api/auth/me", headers: [("Authorization", "Bearer \(token)")]).status == 200
    }
}

/// What a login handed out.
struct LoggedIn: Sendable {
    let token: String
    let refreshToken: String
    let sessionID: String
    let sessionSecret: String
    let userID: String
    let outcome: String

    init(_ json: [String: Any]) {
        token = json["access_token"] as? String ?? ""
        refreshToken = json["refresh_token"] as? String ?? ""
        sessionID = json["session_id"] as? String ?? ""
        sessionSecret = json["session_secret"] as? String ?? ""
        userID = json["user_id"] as? String ?? ""
        outcome = json["session"] as? String ?? ""
    }

    /// The token with another signature of the right form.
    var forged: String {
        guard let dot = token.lastIndex(of: ".") else { return token }
        let signature = token[token.index(after: dot)...]
        return "\(token[...dot])\(signature.hasPrefix("A") ? "B" : "A")\(signature.dropFirst())"
    }

    var bearer: (String, String) { ("Authorization", "Bearer \(token)") }
}
