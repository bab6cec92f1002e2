import Foundation
import Testing

/// What a command of the CLI came to.
typealias CommandResult = (status: Int32, output: String, errors: String)

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

extension HeldSession {
    init(_ login: LoggedIn) {
        self.init(["session_id": login.sessionID, "session_secret": login.sessionSecret])
    }
}

extension RawResponse {
    /// `Set-Cookie` by cookie name.
    var cookies: [String: String] {
        Dictionary(
            all("set-cookie").map { ($0.components(separatedBy: "=")[0], $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The value that a cookie is set to; nil when it is not set.
    func cookieValue(_ name: String) -> String? {
        cookies[name].map { $0.dropFirst(name.count + 1).prefix { $0 != ";" } }.map(String.init)
    }

    /// The whole answer but what may differ from one request to the next: date and request id.
    var comparable: String {
        let id = json["request_id"] as? String ?? self["x-request-id"] ?? "-"
        let head = fields.filter { $0.name.lowercased() != "date" }.map { "\($0.name): \($0.value)" }
        return "\(status)\n\(head.joined(separator: "\n"))\n\n\(text)".replacingOccurrences(of: id, with: "ID")
    }
}

/// Checks a refusal: its status and its code.
func expectRefused(
    _ answer: RawResponse, _ status: Int, _ code: String, _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(
        answer.status == status && answer.code == code, "\(what): \(answer.status) \(answer.text.prefix(300))",
        sourceLocation: sourceLocation)
}

/// Checks an answer's status.
func expectStatus(
    _ answer: RawResponse, _ status: Int, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(what): \(answer.text.prefix(300))", sourceLocation: sourceLocation)
}
