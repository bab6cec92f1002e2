/// W10, W14: how long an open socket lives, and how it treats invalid frames.
enum LeaseProbes {
    static let all: [Probe] = ends + frames

    /// How long a socket may stay open once what it rests on has ended.
    private static let patience = Duration.seconds(5)

    /// W10: what ends a session or a token ends its sockets, and a refresh ends none. The expiry is waited for only
    /// where the token lives for 20 seconds at most.
    private static let ends: [Probe] = [
        lease("W10-logout", "a socket after the logout", [.sessions]) { talk, member in try await talk.logout(member) },
        lease("W10-session-end", "a socket after the end of its session", [.sessions]) { talk, member in
            guard let id = member.sessionID else { throw Unfit("the login names no session") }
            try talk.require(
                try await talk.api("DELETE", "/api/session/\(id)", token: member.accessToken, label: "end"), "the end")
        },
        lease("W10-reuse", "a socket after its refresh token came again", [.refresh, .revoke]) { talk, member in
            guard let first = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            let second = try await talk.successor(of: first)
            _ = try await talk.successor(of: second)
            _ = try await talk.refresh(first)
        },
        Probe(
            "W10-expiry", "a socket after its token's end", reference: "ASVS 7.3, OWASP WebSocket Security",
            expected: "closed", needs: [.socket, .login, .token]
        ) { talk in
            let member = try await talk.login()
            guard let lifetime = member.lifetime, (1...20).contains(lifetime) else {
                throw Unfit("the token lives too long to wait for its end: takes one of at most 20 seconds")
            }
            let socket = try await talk.openSocket(member)
            try await socket.requireOpen()
            // Leeways are at most one minute; 30 seconds are common.
            return try await socket.isSeenToEnd(within: .seconds(lifetime + 35))
                ? .passed("the socket was closed") : .failed("the socket outlived its token")
        },
        Probe(
            "W10-refresh-keeps", "a socket after a refresh", reference: "RFC 6749 §6", expected: "still open",
            needs: [.socket, .login, .refresh, .sessions]
        ) { talk in
            let member = try await talk.login()
            let socket = try await talk.openSocket(member)
            guard let token = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            _ = try await talk.successor(of: token)
            return try await socket.isSeenToEnd(within: .seconds(1))
                ? .failed("a refresh closed the socket") : .passed("the socket stayed open")
        },
    ]

    /// A socket that is open has to be closed within five seconds of an event.
    ///
    /// - Parameters:
    ///   - needs: the powers it takes, besides a login and sockets.
    ///   - end: brings the event about, for the member who has opened the socket.
    private static func lease(
        _ id: String, _ title: String, _ needs: [Need],
        _ end: @escaping @Sendable (Conversation, Member) async throws -> Void
    ) -> Probe {
        Probe(
            id, title, reference: "ASVS 7.4, OWASP WebSocket Security", expected: "closed within five seconds",
            needs: [.socket, .login] + needs
        ) { talk in
            let member = try await talk.login()
            let socket = try await talk.openSocket(member)
            try await socket.requireOpen()
            try await end(talk, member)
            return try await socket.isSeenToEnd(within: patience)
                ? .passed("the socket was closed") : .failed("the socket stayed open")
        }
    }

    // MARK: Frames

    /// W14: frames that must fail the connection (RFC 6455 sections 5.1 to 5.5 and 8.1).
    private static let frames: [Probe] = [
        frame("unmasked", "an unmasked frame", [0x81, 0x02, 0x7B, 0x7D]),
        frame("reserved-opcode", "a frame with a reserved opcode", Frame.masked(first: 0x83, [])),
        frame("reserved-bit", "a frame with a reserved bit", Frame.masked(first: 0xC1, Array("{}".utf8))),
        frame("long-ping", "a ping of 126 bytes", Frame.masked(first: 0x89, Bytes.zeros(126))),
        frame("fragmented-ping", "a ping that is a fragment", Frame.masked(first: 0x09, [])),
        frame("continuation-first", "a continuation of nothing", Frame.masked(first: 0x80, [0x41])),
        frame("bad-utf8", "a text that is no UTF-8", Frame.masked(first: 0x81, [0xC0, 0xAF])),
        frame(
            "length-2-63", "a frame of 2^63 bytes",
            [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]

    /// Sends a frame on an open socket. Passed if the target closes the socket within 5 s, with a Close or without.
    ///
    /// - Parameter bytes: the whole frame, with its header.
    static func frame(_ name: String, _ title: String, _ bytes: [UInt8]) -> Probe {
        Probe(
            "W14-\(name)", title, reference: "RFC 6455 §5", expected: "the connection fails",
            needs: [.socket, .token]
        ) { talk in
            let handshake = try await talk.goodHandshake(talk.socketCarrier)
            let socket = try await talk.upgraded(handshake)
            try await socket.send(bytes)
            return await socket.ends(within: patience)
                ? .passed("the socket was closed") : .failed("the socket stayed open")
        }
    }
}

extension Conversation {
    /// Opens a socket to the session of a login.
    func openSocket(_ member: Member) async throws -> RecordedStream {
        try await upgraded(
            Handshake(
                carrying: Array(member.accessToken.utf8), session: member.sessionID, over: socketCarrier, to: target))
    }

    /// Opens a socket.
    ///
    /// - Throws: ``Unfit`` over HTTP/2, ``Unjudged`` unless the handshake is answered with 101.
    func upgraded(_ handshake: Handshake) async throws -> RecordedStream {
        let stream = try await open("socket", handshake.request(to: target))
        guard let answer = await stream.answer() else { throw Unjudged("a good handshake got no answer") }
        guard answer.status == 101 else { throw Unjudged("a good handshake got \(answer.status)") }
        return stream
    }
}
