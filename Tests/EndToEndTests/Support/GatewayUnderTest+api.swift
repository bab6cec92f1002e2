import Foundation
import Testing

/// The API as a client sees it, refusals included.
extension GatewayUnderTest {
    /// A new anonymous session.
    func anonymous(_ body: [String: Any] = [:]) throws -> HeldSession {
        let answer = try request("POST", "/api/session/create-anonymous", json: body)
        guard answer.status == 200 else { throw Failure(description: "create-anonymous: \(answer.status)") }
        return HeldSession(answer.json)
    }

    /// A login and its answer; `also` adds members to the request's body.
    func attemptLogin(
        _ user: TestUser, headers: [(String, String)] = [], also: [String: Any] = [:]
    ) throws -> RawResponse {
        let body: [String: Any] = ["email": user.email, "password": user.password]
        return try request("POST", "/api/auth/login", headers: headers, json: body.merging(also) { $1 })
    }

    /// A login that waits for its turn, however long the queue.
    func patientLogin(_ user: TestUser) throws -> RawResponse {
        let socket = try RawSocket(port: port, timeoutSeconds: 60)
        let body = #"{"email":"\#(user.email)","password":"\#(user.password)"}"#
        try socket.send(
            "POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try socket.response()
    }

    func me(_ token: String) throws -> RawResponse {
        try request("GET", "/api/auth/me", headers: [("Authorization", "Bearer \(token)")])
    }

    func session(_ id: String, _ headers: (String, String)...) throws -> RawResponse {
        try request("GET", "/api/session/\(id)", headers: headers)
    }

    func current(_ secret: String) throws -> RawResponse {
        try request("GET", "/api/session/current", headers: [("Session-Secret", secret)])
    }

    func upgrade(_ session: HeldSession, _ token: String, _ body: [String: Any] = [:]) throws -> RawResponse {
        try request(
            "PATCH", "/api/session/\(session.id)/upgrade",
            headers: [session.field, ("Authorization", "Bearer \(token)")], json: body)
    }

    func refresh(_ token: String, headers: [(String, String)] = []) throws -> RawResponse {
        try request("POST", "/api/auth/refresh", headers: headers, json: ["refresh_token": token])
    }

    /// A form, as OAuth clients send it.
    func form(
        _ path: String, _ parameters: [(String, String)], headers: [(String, String)] = []
    ) throws -> RawResponse {
        let pairs = parameters.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        return try request(
            "POST", path, headers: headers + [("Content-Type", "application/x-www-form-urlencoded")],
            body: pairs.joined(separator: "&"))
    }
}
