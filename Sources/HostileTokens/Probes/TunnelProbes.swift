/// W04 to W07, W09: WebSockets that the target passes on to the suite's own upstream.
enum TunnelProbes {
    static let all: [Probe] = answers + tunnels + heads + leaks

    // MARK: W05: what the upstream answers

    /// W05: an upstream's 101 that a client would have to refuse (RFC 6455 section 4.1). A target that passes it on has
    /// opened a tunnel whose ends disagree about the protocol.
    private static let answers: [Probe] = [
        answered("accept", "a wrong Sec-WebSocket-Accept"),
        answered("accept-missing", "no Sec-WebSocket-Accept"),
        answered("protocol", "another protocol in Upgrade"),
        answered("no-upgrade", "101 and no Upgrade"),
        answered("no-connection", "101 and no Connection: upgrade"),
        answered("subprotocol", "a subprotocol that was not offered"),
        answered("extension", "an extension that was not offered"),
    ]

    /// A handshake that the suite's own upstream answers wrongly. Failed if the client gets 101.
    ///
    /// - Parameter name: what is wrong: the upstream does it when asked for `switch-` and this name.
    private static func answered(_ name: String, _ title: String) -> Probe {
        probe(
            "W05-answer-\(name)", "an upstream that answers a handshake with \(title)", "RFC 6455 §4.1",
            expected: "no 101 for the client"
        ) { talk, _ in
            let request = try talk.canaryHandshake(answer: "switch-\(name)").request
            guard let answer = try await talk.attempt("attack", request) else {
                return .passed("the connection was ended")
            }
            return answer.status == 101 ? .failed("answered 101") : .passed("answered \(answer.status)")
        }
    }

    // MARK: W04 to W06: tunnels that must not open

    /// W04 to W06: tunnels that the client or the upstream did not agree to, in which requests would pass unchecked
    /// (CWE-441).
    private static let tunnels: [Probe] = [
        .upstream(
            "W05-answer-unasked", "an upstream that answers 101 to a request without an upgrade", "RFC 9110 §15.2.2",
            expected: "no 101 for the client"
        ) { talk, _ in
            let request = try talk.canaryRequest(
                "?answer=switch&\(Marker().value)", fields: try talk.credentialFields())
            guard let answer = try await talk.attempt("attack", request) else {
                return .passed("the connection was ended")
            }
            return answer.status == 101 ? .failed("answered 101") : .passed("answered \(answer.status)")
        },
        .upstream(
            "W04-upstream-h2c", "Upgrade: h2c to an upstream that would take it", "RFC 9113 §3.1, CWE-441",
            expected: "not passed on, and no 101"
        ) { talk, _ in
            let marker = Marker()
            let request = try talk.canaryRequest(
                "?answer=switch-h2c&\(marker.value)",
                fields: try talk.credentialFields()
                    + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
                closes: false)
            let answer = try await talk.attempt("attack", request)
            if answer?.status == 101 { return .failed("answered 101") }
            let arrived = try await talk.arrivals(of: marker.value).flatMap(\.fieldNames)
            return arrived.contains("http2-settings") || arrived.contains("upgrade")
                ? .failed("the upgrade arrived at the upstream") : .passed("the upgrade was not passed on")
        },
        behindRefusal("tunnel", "a request in the tunnel of a handshake that the upstream refuses", isPipelined: false),
        behindRefusal("pipelined", "a request behind a handshake that the upstream refuses", isPipelined: true),
    ]

    /// A request without a token on the connection of a refused handshake: it must not reach the upstream. Where it
    /// does not, the target has to have answered it or closed the connection.
    ///
    /// - Parameter isPipelined: whether the second request is sent together with the handshake, or after its answer.
    private static func behindRefusal(_ name: String, _ title: String, isPipelined: Bool) -> Probe {
        probe(
            "W06-upstream-\(name)", title, "RFC 9110 §7.8, CWE-444",
            expected: "not passed on to the upstream"
        ) { talk, _ in
            let hidden = Marker()
            let next = try talk.canaryRequest("?\(hidden.value)", fields: "").bytes
            let handshake = try talk.canaryHandshake(answer: "refuse").request
            let stream = try await talk.open(
                "attack", RawRequest(bytes: handshake.bytes + (isPipelined ? next : [])))
            let answer = await stream.answer()
            // A connection that was ended takes no more; what came before its end is looked for all the same.
            if !isPipelined { try? await stream.send(next) }
            let doubt = await stream.receiveToEnd { RawResponse(parsing: $0)?.isComplete ?? false }.doubt
            guard answer?.status != 101 else { return .failed("answered 101") }
            return try await talk.arrives("?\(hidden.value) HTTP/1.")
                ? .failed("it arrived at the upstream, without a token")
                : doubt ?? .passed("it did not arrive at the upstream")
        }
    }

    // MARK: W07: the head of a handshake

    /// W07: what a handshake says of the caller, and what its `Connection` names, must be treated as in any request
    /// (RFC 9110 section 7.6.1).
    private static let heads: [Probe] = [
        probe(
            "W07-connection-identity", "a handshake whose Connection names the gateway's own headers", "CVE-2024-45410",
            expected: "they arrive at the upstream", needs: [.assertion]
        ) { talk, _ in
            let names = try await talk.ownNames()
            let list = (["Upgrade"] + names).joined(separator: ", ")
            let head = try await talk.arrivalOfHandshake { $0.set("Connection", list) }
            return head?.judged(has: names) ?? .passed("the handshake was refused")
        },
        probe(
            "W07-connection-listed", "a handshake whose Connection names another of its fields", "RFC 9110 §7.6.1",
            expected: "the field is not passed on"
        ) { talk, _ in
            let head = try await talk.arrivalOfHandshake { handshake in
                handshake.set("Connection", "Upgrade, X-Hop")
                handshake.set("X-Hop", "1")
            }
            guard let head else { return .passed("the handshake was refused") }
            return head.contains { $0.name == "x-hop" }
                ? .failed("it arrived at the upstream") : .passed("it did not arrive at the upstream")
        },
        probe(
            "W07-identity", "a handshake with the gateway's own headers", "CVE-2024-45410",
            expected: "the upstream sees what the gateway says", needs: [.assertion]
        ) { talk, _ in
            let names = try await talk.ownNames() + ["x-auth-user", "remote-user"]
            let hidden = Marker()
            let spelled = names + names.map { $0.replacing("-", with: "_") }
            let head = try await talk.arrivalOfHandshake { handshake in
                for name in spelled { handshake.fields.append((name, Array(hidden.value.utf8))) }
            }
            guard let head else { return .passed("the handshake was refused") }
            return head.contains { $0.value.contains(hidden.value) }
                ? .failed("they arrived at the upstream") : .passed("they did not arrive at the upstream")
        },
    ]

    // MARK: W09: the token on its way to the upstream

    private static let leaks: [Probe] = [
        Transport.socketQuery, .socketHeaders, .socketProtocol, .socketCookie,
    ].map { carrier in
        probe(
            "W09-token-leak-\(carrier.shortName)",
            "the good token of a handshake, carried by the \(carrier.shortName), on its way to the upstream",
            "RFC 9700 §4.9.1", expected: "it does not arrive at the upstream", needs: [.assertion]
        ) { talk, _ in
            guard talk.target.socketCarriers.contains(carrier), let token = talk.token else {
                throw Unfit("the profile names no such carrier")
            }
            let (request, marker) = try talk.canaryHandshake(over: carrier)
            guard let answer = try await talk.attempt("attack", request), answer.status == 101 else {
                throw Unjudged("the good handshake did not get 101")
            }
            let heads = try await talk.arrivals(of: marker.value)
            return heads.contains { $0.firstRange(of: token) != nil || Bytes.unquoted($0).firstRange(of: token) != nil }
                ? .failed("the upstream was given the caller's token") : .passed("the upstream was not given the token")
        }
    }

    /// A probe of the canary's route, which has to take WebSockets.
    private static func probe(
        _ id: String, _ title: String, _ reference: String, expected: String, needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation, String) async throws -> Judgement
    ) -> Probe {
        .upstream(id, title, reference, expected: expected, needs: [.socket] + needs) { talk, route in
            let control = try await talk.attempt("control", try talk.canaryHandshake().request)
            guard control?.status == 101 else { throw Unfit("the canary's route takes no WebSockets") }
            return try await converse(talk, route)
        }
    }
}

extension Conversation {
    /// A good handshake with the suite's own upstream.
    ///
    /// - Parameters:
    ///   - answer: how the upstream is to answer; nil for a right 101.
    ///   - carrier: how the token is sent; nil for the profile's first carrier.
    fileprivate func canaryHandshake(
        answer: String? = nil, over carrier: Transport? = nil,
        _ change: (inout Handshake) -> Void = { _ in }
    ) throws -> (request: RawRequest, marker: Marker) {
        guard let token else { throw Unfit(Need.token.absence) }
        var upstream = target
        upstream.socketPath = try canaryRoute()
        upstream.socketSession = .none
        let marker = Marker()
        var handshake = Handshake(
            carrying: token, session: nil, over: carrier ?? socketCarrier, to: upstream)
        if let answer { handshake.add("answer", Array(answer.utf8)) }
        handshake.add("marker", Array(marker.value.utf8))
        change(&handshake)
        return (handshake.request(to: upstream), marker)
    }

    /// The head of a good handshake with a change, as it arrived at the suite's own upstream; nil if it did not.
    fileprivate func arrivalOfHandshake(_ change: (inout Handshake) -> Void) async throws -> Head? {
        let (request, marker) = try canaryHandshake(change)
        _ = try await attempt("attack", request)
        return try await arrivals(of: marker.value).first.map { Head($0) }
    }
}

extension [UInt8] {
    /// The names of the fields of a request, in lower case.
    fileprivate var fieldNames: [String] { Head(self).map(\.name) }
}
