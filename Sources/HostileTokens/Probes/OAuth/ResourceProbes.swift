import Encodings

/// O09 and O10: tokens where they do not belong, and what arrives behind a protected resource.
enum ResourceProbes {
    static let all: [Probe] = audiences + upstream

    // MARK: O09: audiences

    /// O09: a token for the resource must not open anything else, nor another token the resource (RFC 8707 section 2,
    /// RFC 9700 section 2.3). It must come in `Authorization` alone.
    private static let audiences: [Probe] = [
        probe("O09-resource-token-elsewhere", "a resource's token at another path", [.token]) { talk in
            let token = try await talk.granted()
            return try await talk.protected(token).refused("the resource's token")
        },
        probe("O09-other-token", "a token for something else at the resource") { talk in
            _ = try await talk.granted()
            let member = try await talk.person()
            return try await talk.resource(member.accessToken, label: "attack").refused("the other token")
        },
        probe("O09-resource-token-session", "a session made with a resource's token", [.sessions]) { talk in
            let token = try await talk.granted()
            return try await talk.api("POST", "/api/session/create", token: token, body: [:], label: "attack")
                .refused("the resource's token")
        },
        probe("O09-resource-token-socket", "a WebSocket with a resource's token", [.socket]) { talk in
            let token = try await talk.granted()
            try await talk.checkGoodHandshake()
            let session = try await talk.person().sessionID
            return try await talk.handshake(
                "attack",
                Handshake(carrying: Array(token.utf8), session: session, over: talk.socketCarrier, to: talk.target))
        },
        probe("O09-token-in-query", "a resource's token in the query") { talk in
            let token = try await talk.granted()
            return try await talk.resource(nil, query: "?access_token=" + token, label: "attack")
                .refused("the token in the query")
        },
        probe("O09-token-in-cookie", "a resource's token in a cookie") { talk in
            let token = try await talk.granted()
            return try await talk.resource(nil, fields: [("Cookie", "access_token=" + token)], label: "attack")
                .refused("the token in a cookie")
        },
        probe("O09-no-token", "the resource without a token") { talk in
            _ = try await talk.granted()
            let answer = try await talk.resource(nil, label: "attack")
            guard !answer.isSuccess else { return .failed("answered \(answer.status)") }
            let challenge = answer.fields("www-authenticate").joined(separator: ",")
            return answer.status == 401 && challenge.contains("resource_metadata=")
                ? .passed("the challenge names the metadata")
                : .failed("the challenge names no metadata (RFC 9728 section 5.1)")
        },
        probe("O09-foreign-origin", "the resource from another site, as with DNS rebinding") { talk in
            let token = try await talk.granted()
            return try await talk.resource(token, fields: [("Origin", "https://attacker.invalid")], label: "attack")
                .refused("the foreign Origin")
        },
    ]

    // MARK: O10: what arrives at the upstream

    /// O10: the upstream must not get the token, nor requests in a protocol session that another person opened.
    ///
    /// A request that arrives at the suite's own upstream fails the case, whatever its answer.
    private static let upstream: [Probe] = [
        probe("O10-passthrough", "a resource's token on its way to the upstream", [.canary]) { talk in
            let (marker, token) = (Marker(), try await talk.granted())
            _ = try await talk.resource(token, query: "?" + marker.value)
            let arrived = try await talk.arrivals(of: marker.value)
            guard !arrived.isEmpty else { throw Unjudged("nothing arrived at the suite's own upstream") }
            return arrived.contains { $0.firstRange(of: Array(token.utf8)) != nil }
                ? .failed("the upstream was given the caller's token") : .passed("the upstream was not given the token")
        },
        protocolSession("foreign", "another person's protocol session", [.twoUsers]) { talk, id in
            let other = try await talk.grant(try await talk.shared(1)).access
            return (other, [id])
        },
        protocolSession("unknown", "a protocol session that does not exist") { talk, _ in
            (try await talk.granted(), [Marker().value])
        },
        protocolSession("two", "two protocol sessions") { talk, id in (try await talk.granted(), [id, id]) },
    ]

    /// Opens a protocol session, uses it, and sends its id, or another, in a request that must not arrive.
    ///
    /// - Parameter attack: makes the token and the values of `Mcp-Session-Id`, one field line each.
    private static func protocolSession(
        _ name: String, _ title: String, _ needs: [Need] = [],
        _ attack: @escaping @Sendable (Conversation, String) async throws -> (token: String, ids: [String])
    ) -> Probe {
        probe("O10-protocol-session-\(name)", title, [.canary, .protocolSessions] + needs) { talk in
            let token = try await talk.granted()
            let id = Marker().value
            // The suite's own upstream opens the session that the query names.
            try talk.require(
                try await talk.resource(token, query: "?open-session=" + id), "the request that opens a session")
            try talk.require(
                try await talk.resource(token, fields: [("Mcp-Session-Id", id)], label: "control"), "one's own session")
            let marker = Marker()
            let (other, ids) = try await attack(talk, id)
            let answer = try await talk.resource(
                other, query: "?" + marker.value, fields: ids.map { ("Mcp-Session-Id", $0) }, label: "attack")
            return try await talk.arrivals(of: marker.value).isEmpty
                ? answer.refused("the protocol session") : .failed("the request arrived at the upstream")
        }
    }

    private static func probe(
        _ id: String, _ title: String, _ needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: "RFC 8707 §2, RFC 9700 §2.3, MCP authorization", expected: "refused",
            needs: [.oauth, .login] + needs, converse)
    }
}

extension Conversation {
    /// The token of a new grant, which the resource accepts.
    ///
    /// - Throws: ``Unjudged`` if the resource refuses the new token.
    fileprivate func granted() async throws -> String {
        let token = try await grant(try await person()).access
        try require(try await resource(token, label: "control"), "a good token at the resource")
        return token
    }
}
