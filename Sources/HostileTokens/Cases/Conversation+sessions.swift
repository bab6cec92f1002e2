import Encodings

extension Conversation {
    /// Makes an anonymous session.
    ///
    /// - Throws: ``Unjudged`` if none can be made.
    func anonymous() async throws -> (id: String, secret: String) {
        let answer = try await api("POST", "/api/session/create-anonymous", body: [:], label: "session")
        guard let id = answer.text("session_id"), let secret = answer.text("session_secret") else {
            throw Unjudged("no anonymous session could be made: \(answer.status)")
        }
        return (id, secret)
    }

    /// Asks for the session of a secret.
    func current(_ secret: String) async throws -> RawResponse {
        try await api("GET", "/api/session/current", secret: secret, label: "current")
    }

    /// Asks for a session by its id.
    func session(_ id: String, token: String? = nil) async throws -> RawResponse {
        try await api("GET", "/api/session/\(id)", token: token, label: "session")
    }

    /// Requests the protected path with a token.
    func protected(_ token: String) async throws -> RawResponse {
        guard let request = transport.request(.token(Array(token.utf8)), to: target) else {
            throw Unfit("no request can be made")
        }
        return try await exchange("protected", request)
    }

    /// Logs out.
    ///
    /// - Throws: ``Unjudged`` if the logout is refused, because then nothing has ended.
    func logout(_ member: Member) async throws {
        let answer = try await api("POST", "/api/auth/logout", token: member.accessToken, body: [:], label: "logout")
        guard answer.isSuccess else { throw Unjudged("the logout got \(answer.status)") }
    }

    /// Throws if a valid request was refused, because the case then cannot be judged.
    ///
    /// - Parameter what: names the request in the reason.
    func require(_ response: RawResponse, _ what: String) throws {
        guard response.grantsAccess else { throw Unjudged("\(what) got \(response.status)") }
    }
}
