/// W01 to W03, W08, W09, W11, W14: more handshakes that must not be answered with 101, and frames behind a good one.
enum CredentialProbes {
    static let all: [Probe] = handshakes + tokens + sessions + frames

    // MARK: W01 to W03

    /// W01 to W04: more Origins that only resemble the target's, two versions, an upgrade to TLS, and handshakes with a
    /// body, which a second parser might read as a request.
    private static let handshakes: [Probe] = [
        SocketProbes.origin("port", "our host at another port") { target in
            let host = target.authority.lastIndex(of: ":").map { target.authority[..<$0] } ?? target.authority[...]
            return (target.isSecure ? "https://" : "http://") + host + ":1"
        },
        SocketProbes.origin("subdomain", "a host below ours") { target in
            (target.isSecure ? "https://" : "http://") + "attacker." + target.authority
        },
        SocketProbes.origin("prefix", "our Origin without its last character") { String($0.origin.dropLast()) },
        SocketProbes.changed("W02-version-twice", "two versions", "RFC 6455 §4.2") { handshake, _ in
            handshake.fields.append(("Sec-WebSocket-Version", Array("8".utf8)))
        },
        SocketProbes.changed(
            "W04-upgrade-tls", "Upgrade: TLS/1.0", "RFC 2817 §3", isHTTP1Only: true
        ) { handshake, _ in
            handshake.set("Upgrade", "TLS/1.0")
        },
        body("length", "a body with a length") { handshake in
            handshake.set("Content-Length", "5")
            return "hello"
        },
        body("coding", "a body in chunks") { handshake in
            handshake.set("Transfer-Encoding", "chunked")
            return "5\r\nhello\r\n0\r\n\r\n"
        },
    ]

    /// A good handshake with a body, which RFC 6455 section 4.1 does not have.
    ///
    /// - Parameter change: adds the framing field, and returns the bytes behind the head.
    private static func body(
        _ name: String, _ title: String, _ change: @escaping @Sendable (inout Handshake) -> String
    ) -> Probe {
        Probe(
            "W03-body-\(name)", "a handshake with \(title)", reference: "RFC 6455 §4.1, CWE-444", expected: "no 101",
            needs: [.socket, .token]
        ) { talk in
            guard talk.keepsBytes else { throw Unfit("is about what HTTP/2 does not have") }
            guard talk.target.isStrict || talk.target.canaryPath != nil else {
                throw Unfit("matters in front of an upstream: judged with 'canary' in the profile, or --strict")
            }
            try await talk.checkGoodHandshake()
            var handshake = try await talk.goodHandshake(talk.socketCarrier)
            let body = change(&handshake)
            let request = RawRequest(bytes: handshake.request(to: talk.target).bytes + Array(body.utf8))
            guard let answer = try await talk.attempt("attack", request) else {
                return .passed("the connection was ended")
            }
            return answer.status == 101 ? .failed("answered 101") : .passed("refused with \(answer.status)")
        }
    }

    // MARK: W08, W09: tokens

    /// W08, W09: tokens that a lenient reader takes for the good one.
    private static let tokens: [Probe] = [
        byQuery("empty", "an empty token") { handshake, name, _ in handshake.add(name, []) },
        byQuery("nul", "the good token with an encoded NUL behind it") { handshake, name, token in
            handshake.add(name, token + [0])
        },
        byQuery("newline", "the good token with an encoded line feed behind it") { handshake, name, token in
            handshake.add(name, token + [0x0A])
        },
        byQuery("twice-encoded", "the good token, and a garbage one under the parameter's name in another spelling") {
            handshake, name, token in
            handshake.add(name, token)
            let first = name.utf8.first.map { "%" + String($0, radix: 16) } ?? ""
            handshake.add(first + name.dropFirst(), Array("garbage".utf8))
        },
        Probe(
            "W08-token-two-carriers", "the good token, and a garbage one in another carrier", reference: "RFC 6750 §2",
            expected: "no 101", needs: [.socket, .token]
        ) { talk in
            let others = talk.target.socketCarriers.filter { $0 != talk.socketCarrier }
            guard !others.isEmpty else { throw Unfit("the profile names one carrier only") }
            try await talk.checkGoodHandshake()
            for other in others {
                var handshake = try await talk.goodHandshake(talk.socketCarrier)
                var terms = talk.target
                terms.socketSession = .none
                let second = Handshake(
                    carrying: Array("garbage".utf8), session: nil, over: other, to: terms)
                let usual = Set(Handshake().fields.map(\.name))
                handshake.fields += second.fields.filter { !usual.contains($0.name) }
                handshake.query +=
                    second.query.isEmpty || handshake.query.isEmpty
                    ? second.query : Array("&".utf8) + second.query.dropFirst()
                let judgement = try await talk.handshake("attack", handshake)
                if judgement.verdict == .failed {
                    return .failed("answered 101 with another token in the \(other.shortName)")
                }
            }
            return .passed("refused with each of \(others.count)")
        },
        Probe(
            "W09-token-echo", "the good token in the subprotocol that is chosen",
            reference: "RFC 6455 §11.3.4, CWE-200",
            expected: "another one is chosen, or none", needs: [.socket, .token]
        ) { talk in
            guard talk.target.socketCarriers.contains(.socketProtocol) else {
                throw Unfit("the profile names no such carrier")
            }
            let (token, session) = try await talk.socketCredentials()
            let handshake = Handshake(carrying: token, session: session, over: .socketProtocol, to: talk.target)
            let answer = try await talk.exchange("attack", handshake.request(to: talk.target))
            guard answer.status == 101 else { throw Unjudged("a good handshake got \(answer.status)") }
            let text = String(decoding: token, as: UTF8.self)
            return answer.fields("sec-websocket-protocol").contains { $0.contains(text) }
                ? .failed("the token was sent back") : .passed("the token was not sent back")
        },
    ]

    /// A handshake with a changed token in the query, after the good token was accepted there.
    ///
    /// - Parameter change: adds the attack to a handshake that has the session and no token; it gets the parameter's
    ///   name and the valid token.
    private static func byQuery(
        _ name: String, _ title: String, _ change: @escaping @Sendable (inout Handshake, String, [UInt8]) -> Void
    ) -> Probe {
        Probe(
            "W08-token-\(name)", "\(title), in the query", reference: "RFC 6750 §2, §3.1", expected: "no 101",
            needs: [.socket, .token]
        ) { talk in
            guard talk.target.socketCarriers.contains(.socketQuery) else {
                throw Unfit("the profile names no such carrier")
            }
            let (token, session) = try await talk.socketCredentials()
            try await talk.checkHandshake(
                Handshake(carrying: token, session: session, over: .socketQuery, to: talk.target))
            let parameter = talk.target.socketTerms(.socketQuery).name ?? "access_token"
            // The session is named as usual, and only the token's parameter differs.
            var handshake = Handshake()
            if talk.target.socketSession != .none, let session {
                if talk.target.socketSession == .header {
                    handshake.set("Session-Id", session)
                } else {
                    handshake.add("session_id", Array(session.utf8))
                }
            }
            change(&handshake, parameter, token)
            return try await talk.handshake("attack", handshake)
        }
    }

    // MARK: W08, W11: sessions

    /// W08, W11: two sessions in one handshake, of which one is another user's. Passed unless it answers 101.
    private static let sessions: [Probe] = [
        Probe(
            "W08-session-twice", "one's own session and another user's", reference: "OWASP WebSocket Security",
            expected: "no 101", needs: [.socket, .twoUsers, .ownership]
        ) { talk in
            guard talk.socketCarrier == .socketQuery, talk.target.socketSession != .header,
                talk.target.socketSession != .none
            else { throw Unfit("the session is not in the query") }
            try await talk.checkGoodHandshake()
            guard let foreign = try await talk.shared(1).sessionID else { throw Unfit("the login names no session") }
            var handshake = try await talk.goodHandshake(talk.socketCarrier)
            handshake.add("session_id", Array(foreign.utf8))
            return try await talk.handshake("attack", handshake)
        },
        Probe(
            "W11-ticket-other-session", "a ticket with the id of another user's session", reference: "ASVS 4.4.4",
            expected: "no 101", needs: [.socket, .twoUsers, .sessions]
        ) { talk in
            try await talk.checkHandshake(try await talk.ticket())
            var handshake = try await talk.ticket()
            guard let foreign = try await talk.shared(1).sessionID else { throw Unfit("the login names no session") }
            handshake.add("session_id", Array(foreign.utf8))
            return try await talk.handshake("attack", handshake)
        },
    ]

    // MARK: W14

    /// W14: more frames that must end the connection; see ``LeaseProbes/frame(_:_:_:)``.
    private static let frames: [Probe] = [
        LeaseProbes.frame("reserved-control", "a control frame with a reserved opcode", Frame.masked(first: 0x8B, [])),
        LeaseProbes.frame(
            "text-within-text", "a text within a fragmented text",
            Frame.masked(first: 0x01, [0x7B]) + Frame.masked(first: 0x81, [0x7D])),
    ]
}
