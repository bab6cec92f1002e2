extension Conversation {
    /// The first carrier of the profile, or the query.
    var socketCarrier: Transport { target.socketCarriers.first ?? .socketQuery }

    /// A token and the session to open with it.
    ///
    /// They are the run's own if it has a session or needs none, otherwise those of a shared login.
    func socketCredentials() async throws -> (token: [UInt8], session: String?) {
        if target.socketSession == .none, let token { return (token, nil) }
        if let session = target.sessionID, let token { return (token, session) }
        guard accountsKnown else { throw Unfit("needs a session: 'token.login' of the profile, or --session") }
        let member = try await shared()
        return (Array(member.accessToken.utf8), member.sessionID)
    }

    private var accountsKnown: Bool { !target.users.isEmpty }

    /// A handshake that the target should accept, with the token in this carrier.
    func goodHandshake(_ carrier: Transport) async throws -> Handshake {
        let (token, session) = try await socketCredentials()
        return Handshake(carrying: token, session: session, over: carrier, to: target)
    }

    /// Throws unless the valid handshake is answered with 101.
    func checkGoodHandshake() async throws {
        try await checkHandshake(try await goodHandshake(socketCarrier))
    }

    /// Sends a handshake that the target should accept.
    ///
    /// - Throws: ``Unjudged`` unless it is answered with 101.
    func checkHandshake(_ handshake: Handshake) async throws {
        let answer = try await exchange("control", handshake.request(to: target))
        guard answer.status == 101 else { throw Unjudged("a good handshake got \(answer.status)") }
    }

    /// Sends a handshake; passed unless it is answered with 101.
    ///
    /// A connection that was closed without an answer counts as a refusal.
    func handshake(_ label: String, _ handshake: Handshake) async throws -> Judgement {
        guard let answer = try await attempt(label, handshake.request(to: target)) else {
            return .passed("the connection was ended")
        }
        return answer.status == 101 ? .failed("answered 101") : .passed("refused with \(answer.status)")
    }

    /// A handshake with a new ticket.
    ///
    /// - Parameter origin: the Origin that the ticket is asked for and used with; nil for none.
    func ticket(origin: String? = nil) async throws -> Handshake {
        let member = try await shared()
        guard let id = member.sessionID else { throw Unfit("the login names no session") }
        let answer = try await api(
            "POST", "/api/session/\(id)/ticket", token: member.accessToken,
            fields: origin.map { [("Origin", $0)] } ?? [], label: "ticket")
        guard let ticket = answer.text("ticket") else { throw Unjudged("a ticket's request got \(answer.status)") }
        var handshake = Handshake()
        handshake.add("ticket", Array(ticket.utf8))
        if let origin { handshake.set("Origin", origin) }
        return handshake
    }
}
