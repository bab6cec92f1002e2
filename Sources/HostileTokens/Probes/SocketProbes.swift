/// W: WebSocket handshakes that must not be answered with 101.
enum SocketProbes {
    static let all: [Probe] = origins + handshakes + carriers + sessions + tickets

    private static let handshakeReference = "RFC 6455 §4.2"

    // MARK: W01: Origin

    /// W01: a browser sends the Origin of the page; a target that accepts another's lets any page open sockets with the
    /// user's cookies (RFC 6455 section 10.2). Passed unless it answers 101.
    private static let origins: [Probe] = [
        origin("foreign", "a foreign Origin") { _ in "https://attacker.invalid" },
        origin("null", "the Origin null") { _ in "null" },
        origin("suffix", "our Origin with more after it") { $0.origin + ".attacker.invalid" },
        origin("userinfo", "our Origin as user information") { $0.origin + "@attacker.invalid" },
        origin("scheme", "our host under another scheme") { "ftp://" + $0.authority },
        changed("W01-origin-two", "two Origins, ours first", "RFC 6454 §7.3") { handshake, target in
            handshake.fields.append(("Origin", Array(target.origin.utf8)))
            handshake.fields.append(("Origin", Array("https://attacker.invalid".utf8)))
        },
    ]

    /// A handshake with an Origin that is not the target's.
    ///
    /// - Parameter value: makes it from the target's own Origin or authority.
    static func origin(
        _ name: String, _ title: String, _ value: @escaping @Sendable (Target) -> String
    ) -> Probe {
        changed("W01-origin-\(name)", title, "RFC 6455 §10.2, CVE-2023-0957") { handshake, target in
            handshake.set("Origin", value(target))
        }
    }

    // MARK: W02 to W04: the handshake

    /// Values of `Sec-WebSocket-Version` other than 13, the only one of RFC 6455 section 4.1.
    private static let versions: [(name: String, value: String)] = [
        ("7", "7"), ("0", "0"), ("12", "12"), ("99", "99"), ("list", "13, 8"), ("word", "thirteen"),
    ]

    /// W02 to W04: handshakes that break one condition of RFC 6455 section 4.2.1, or ask for another protocol (RFC 9110
    /// section 7.8).
    ///
    /// A target that answers 101 passes on what follows as frames, which a second parser might read as requests.
    private static let handshakes: [Probe] =
        versions.map { name, value in
            changed("W02-version-\(name)", "Sec-WebSocket-Version: \(value)", handshakeReference) { handshake, _ in
                handshake.set("Sec-WebSocket-Version", value)
            }
        } + [
            changed("W02-version-missing", "no Sec-WebSocket-Version", handshakeReference) { handshake, _ in
                handshake.set("Sec-WebSocket-Version", nil)
            },
            changed("W03-key-missing", "no Sec-WebSocket-Key", handshakeReference, isHTTP1Only: true) { handshake, _ in
                handshake.set("Sec-WebSocket-Key", nil)
            },
            changed("W03-key-short", "a key of 15 bytes", handshakeReference, isHTTP1Only: true) { handshake, _ in
                handshake.set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAA")
            },
            changed("W03-key-long", "a key of 18 bytes", handshakeReference, isHTTP1Only: true) { handshake, _ in
                handshake.set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAAAA")
            },
            changed("W03-key-no-base64", "a key that is no base64", handshakeReference, isHTTP1Only: true) {
                handshake, _ in
                handshake.set("Sec-WebSocket-Key", "!!!!!!!!!!!!!!!!!!!!!!==")
            },
            changed("W03-key-twice", "two keys", handshakeReference, isHTTP1Only: true) { handshake, _ in
                handshake.fields.append(("Sec-WebSocket-Key", Array("AAAAAAAAAAAAAAAAAAAAAA==".utf8)))
            },
            changed("W03-post", "the method POST", handshakeReference, isHTTP1Only: true) { handshake, _ in
                handshake.method = "POST"
            },
            changed("W03-http10", "HTTP/1.0", handshakeReference, isHTTP1Only: true) { handshake, _ in
                handshake.version = "HTTP/1.0"
            },
            changed("W03-no-connection", "no Connection: upgrade", handshakeReference, isHTTP1Only: true) {
                handshake, _ in
                handshake.set("Connection", "keep-alive")
            },
            changed("W04-upgrade-h2c", "Upgrade: h2c, behind which anything could be sent", "RFC 9113 §3.1") {
                handshake, _ in
                handshake.set("Upgrade", "h2c")
                handshake.set("Connection", "Upgrade, HTTP2-Settings")
                handshake.set("HTTP2-Settings", "AAMAAABkAAQAAP__")
            },
            changed("W04-upgrade-other", "Upgrade: to a protocol that does not exist", "RFC 9110 §7.8") {
                handshake, _ in
                handshake.set("Upgrade", "tunnel/1")
            },
        ]

    // MARK: W06, W08: credentials

    /// W06, W08: no token, two tokens, and a good handshake hidden behind a refused one. That refusal has to end
    /// the connection.
    private static let carriers: [Probe] =
        [
            Probe(
                "W08-token-missing", "a handshake without a token", reference: "RFC 6750 §3.1", expected: "no 101",
                needs: [.socket, .token]
            ) { talk in
                try await talk.checkGoodHandshake()
                return try await talk.handshake("attack", Handshake())
            },
            changed("W08-token-twice", "the good token and a garbage one in the query", "RFC 6750 §2") {
                handshake, target in
                handshake.add(target.socketTerms(.socketQuery).name ?? "access_token", Array("garbage".utf8))
            },
            Probe(
                "W06-pipelined-after-refusal", "a good handshake behind a refused one, in one packet",
                reference: "RFC 9112 §9.6", expected: "the refusal ends the connection",
                needs: [.socket, .token, .sessions]
            ) { talk in
                try await talk.checkGoodHandshake()
                let second = try await talk.goodHandshake(talk.socketCarrier)
                let stream = try await talk.open(
                    "attack",
                    RawRequest(
                        bytes: Handshake().request(to: talk.target).bytes + second.request(to: talk.target).bytes))
                let isSwitched: @Sendable ([UInt8]) -> Bool = { bytes in
                    bytes.firstRange(of: Array("HTTP/1.1 101".utf8)) != nil
                }
                let received = await stream.receiveToEnd(or: isSwitched)
                return isSwitched(received.bytes)
                    ? .failed("what came behind the refusal was answered")
                    : received.doubt ?? .passed("what came behind the refusal was dropped")
            },
        ] + everyCarrier

    /// W08: three bad tokens in each carrier that the profile names, after the good token was accepted in that carrier.
    private static let everyCarrier: [Probe] = [
        Transport.socketQuery, .socketHeaders, .socketProtocol, .socketCookie,
    ].flatMap { carrier in
        [
            token("garbage", "a garbage token", carrier, [.token]) { _ in Array("garbage".utf8) },
            token("cut", "the good token without its last letter", carrier, [.token]) { $0.dropLast(1) },
            token("none", "a token with alg none", carrier, [.token, .jwt]) { good in
                let parts = good.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                guard parts.count == 3 else { throw Unfit(Need.jwt.absence) }
                return Bytes.base64URL(#"{"alg":"none","typ":"at+jwt"}"#) + [UInt8(ascii: ".")] + parts[1]
                    + [UInt8(ascii: ".")]
            },
        ]
    }

    private static func token(
        _ name: String, _ title: String, _ carrier: Transport, _ needs: [Need],
        _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> Probe {
        Probe(
            "W08-\(carrier.shortName)-\(name)", "\(title), carried by the \(carrier.shortName)",
            reference: "RFC 6750 §3.1", expected: "no 101", needs: [.socket] + needs
        ) { talk in
            guard talk.target.socketCarriers.contains(carrier) else { throw Unfit("the profile names no such carrier") }
            let (good, session) = try await talk.socketCredentials()
            try await talk.checkHandshake(
                Handshake(carrying: good, session: session, over: carrier, to: talk.target))
            return try await talk.handshake(
                "attack",
                Handshake(carrying: try change(good), session: session, over: carrier, to: talk.target))
        }
    }

    // MARK: W08: sessions

    /// W08: a good token with a session that is unknown, empty, ended, anonymous or another user's. Passed unless it
    /// answers 101.
    private static let sessions: [Probe] = [
        session("unknown", "an unknown session", [.login, .ownership]) { _ in "ses_AAAAAAAAAAAAAAAAAAAAAA" },
        session("missing", "an empty session", [.login, .ownership]) { _ in "" },
        session("foreign", "another user's session", [.twoUsers, .ownership]) { talk in
            try await talk.shared(1).sessionID
        },
        session("anonymous", "an anonymous session", [.login, .ownership, .sessions]) { talk in
            try await talk.anonymous().id
        },
        session("ended", "one's own session after its end", [.login, .ownership, .sessions]) { talk in
            let member = try await talk.login()
            let id = member.sessionID
            guard let id else { return nil }
            let answer = try await talk.api("DELETE", "/api/session/\(id)", token: member.accessToken, label: "end")
            guard answer.isSuccess else { throw Unjudged("the session could not be ended") }
            return id
        },
    ]

    private static func session(
        _ name: String, _ title: String, _ needs: [Need],
        _ id: @escaping @Sendable (Conversation) async throws -> String?
    ) -> Probe {
        Probe(
            "W08-session-\(name)", "one's own token with \(title)", reference: "OWASP WebSocket Security",
            expected: "no 101", needs: [.socket] + needs
        ) { talk in
            guard talk.target.socketSession != .none else { throw Unfit("the socket names no session") }
            try await talk.checkGoodHandshake()
            let member = try await talk.shared()
            guard let id = try await id(talk) else { throw Unfit("the login names no session") }
            return try await talk.handshake(
                "attack",
                Handshake(
                    carrying: Array(member.accessToken.utf8), session: id, over: talk.socketCarrier, to: talk.target))
        }
    }

    // MARK: W11: tickets

    /// W11: a ticket opens one socket, once, from the Origin it was made for (ASVS 4.4.4).
    private static let tickets: [Probe] = [
        Probe(
            "W11-ticket-twice", "a ticket a second time", reference: "ASVS 4.4.4", expected: "no 101",
            needs: [.socket, .login, .sessions]
        ) { talk in
            let ticket = try await talk.ticket()
            try await talk.checkHandshake(ticket)
            return try await talk.handshake("attack", ticket)
        },
        Probe(
            "W11-ticket-other-origin", "a ticket from another Origin than it was made for", reference: "ASVS 4.4.2",
            expected: "no 101", needs: [.socket, .login, .sessions]
        ) { talk in
            var ticket = try await talk.ticket(origin: talk.target.origin)
            ticket.set("Origin", nil)
            return try await talk.handshake("attack", ticket)
        },
        Probe(
            "W11-ticket-garbage", "a ticket that was never issued", reference: "ASVS 4.4.4", expected: "no 101",
            needs: [.socket, .login, .sessions]
        ) { talk in
            try await talk.checkHandshake(try await talk.ticket())
            var handshake = Handshake()
            handshake.add("ticket", Array(("tkt_" + String(repeating: "A", count: 43)).utf8))
            return try await talk.handshake("attack", handshake)
        },
    ]

    /// The valid handshake with one change.
    ///
    /// - Parameters:
    ///   - isHTTP1Only: whether the change is of something that RFC 8441 does not have, such as the key; skipped over
    ///     HTTP/2.
    ///   - change: changes the handshake, which has been accepted without the change.
    static func changed(
        _ id: String, _ title: String, _ reference: String, isHTTP1Only: Bool = false,
        _ change: @escaping @Sendable (inout Handshake, Target) -> Void
    ) -> Probe {
        Probe(id, title, reference: reference, expected: "no 101", needs: [.socket, .token]) { talk in
            guard talk.keepsBytes || !isHTTP1Only else { throw Unfit("is about what HTTP/2 does not have") }
            try await talk.checkGoodHandshake()
            var handshake = try await talk.goodHandshake(talk.socketCarrier)
            change(&handshake, talk.target)
            return try await talk.handshake("attack", handshake)
        }
    }
}
