/// O07, O08, O11 and O12: codes, refresh tokens of clients, registration, and documents that clients are named by.
enum GrantProbes {
    static let all: [Probe] = codes + refresh + registration + documents

    // MARK: O07: codes

    /// O07: a code works once, for its client, with its redirect URI and verifier (RFC 6749 section 4.1.3, RFC 7636
    /// section 4.6).
    ///
    /// Each attack uses a new code. Where parameters are changed, another code is redeemed without the change first.
    private static let codes: [Probe] = [
        probe("O07-code-twice", "a code a second time", "RFC 6749 §4.1.2") { talk in
            let code = try await talk.code(try await talk.person()).code
            try talk.require(try await talk.redeem(code), "the code")
            return try await talk.redeem(code, label: "attack").refused("the used code")
        },
        probe("O07-code-twice-ends", "the tokens of a code that came a second time", "RFC 6749 §4.1.2") { talk in
            guard talk.target.isStrict else { throw Unfit("a matter of policy: judged with --strict") }
            let code = try await talk.code(try await talk.person()).code
            let first = try await talk.redeem(code)
            guard let token = first.text("access_token") else { throw Unjudged("a good code got \(first.status)") }
            try talk.require(try await talk.resource(token), "the token before")
            _ = try await talk.redeem(code, label: "attack")
            return try await talk.resource(token).refused("the token of the code that came twice")
        },
        probe("O07-code-race", "one code eight times at once", "CWE-367") { talk in
            let code = try await talk.code(try await talk.person()).code
            let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await talk.redeem(code).text("access_token") != nil }
                }
                return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
            }
            return successes > 1
                ? .failed("there are \(successes) tokens") : .passed("there is at most one token")
        },
        code("verifier-wrong", "another verifier", ["code_verifier": "x" + Conversation.verifier.dropFirst()]),
        code("verifier-missing", "no verifier", ["code_verifier": nil]),
        code("verifier-empty", "an empty verifier", ["code_verifier": ""]),
        code(
            "verifier-challenge", "the challenge in the place of the verifier",
            [
                "code_verifier": Conversation.challenge
            ]),
        code("redirect-other", "another redirect URI", ["redirect_uri": "https://attacker.invalid/"]),
        probe("O07-code-client-other", "the code of another client", "RFC 6749 §4.1.3") { talk in
            guard let other = try await talk.service().other else { throw Unfit("there is no second client") }
            let person = try await talk.person()
            let code = try await talk.code(person).code
            return try await talk.redeem(code, ["client_id": other], label: "attack").refused("another client's code")
        },
        probe("O07-code-as-token", "a code in the place of an access token", "RFC 8725 §3.12") { talk in
            let code = try await talk.code(try await talk.person()).code
            return try await talk.resource(code, label: "attack").refused("the code")
        },
    ]

    /// A new code with changed parameters of the token request.
    ///
    /// - Parameter changes: parameters with other values, or left out for nil.
    private static func code(_ name: String, _ title: String, _ changes: [String: String?]) -> Probe {
        probe("O07-code-\(name)", "a code with \(title)", "RFC 7636 §4.6, RFC 6749 §4.1.3") { talk in
            let person = try await talk.person()
            // The control: with everything as it was asked for, a code is redeemed.
            _ = try await talk.grant(person)
            let code = try await talk.code(person).code
            return try await talk.redeem(code, changes, label: "attack").refused(title)
        }
    }

    // MARK: O08: refresh tokens of clients

    /// O08: a client's refresh token is rotated, bound to its client, its scopes and its resource (RFC 9700 section
    /// 4.14.2, RFC 6749 section 6). Skipped if clients get none.
    private static let refresh: [Probe] = [
        probe("O08-refresh-reuse", "a client's refresh token after its successor has been used", "RFC 9700 §4.14.2") {
            talk in
            let first = try await talk.refreshable()
            let second = try await talk.next(first)
            _ = try await talk.next(second)
            return try await talk.refreshGrant(first, label: "attack").refused("the used refresh token")
        },
        probe("O08-refresh-reuse-ends", "the newest refresh token after an old one came again", "RFC 9700 §4.14.2") {
            talk in
            let first = try await talk.refreshable()
            let second = try await talk.next(first)
            let third = try await talk.next(second)
            _ = try await talk.refreshGrant(first)
            return try await talk.refreshGrant(third, label: "attack").refused("the newest token")
        },
        probe("O08-refresh-client-other", "the refresh token of another client", "RFC 6749 §6") { talk in
            guard let other = try await talk.service().other else { throw Unfit("there is no second client") }
            let token = try await talk.refreshable()
            return try await talk.refreshGrant(token, ["client_id": other], label: "attack")
                .refused("another client's refresh token")
        },
        probe("O08-refresh-wider", "a refresh that asks for more than was granted", "RFC 6749 §6") { talk in
            let scopes = try await talk.service().scopes
            guard scopes.count > 1 else { throw Unfit("needs a second scope in 'oauth.scopes'") }
            let token = try await talk.refreshable()
            let answer = try await talk.refreshGrant(
                token, ["scope": scopes.prefix(2).joined(separator: " ")], label: "attack")
            let granted = answer.text("scope")?.split(separator: " ").map(String.init) ?? []
            return granted.contains(scopes[1]) ? .failed("the wider scope was granted") : .passed("it was not granted")
        },
        probe("O08-refresh-resource-other", "a refresh for another resource", "RFC 8707 §2.2") { talk in
            let token = try await talk.refreshable()
            return try await talk.refreshGrant(
                token, ["resource": "https://attacker.invalid/"], label: "attack"
            ).refused("another resource")
        },
        probe(
            "O08-refresh-elsewhere", "a client's refresh token where sessions are refreshed", "RFC 9700 §2.3",
            [
                .refresh
            ]
        ) { talk in
            try await talk.refresh(try await talk.refreshable()).refused("the client's refresh token")
        },
    ]

    // MARK: O11: registration

    /// O11: redirect URIs that a browser would run, or send over the network in clear, must not be registered (RFC 7591
    /// section 5).
    private static let registration: [Probe] = [
        registers("javascript", "a script as redirect URI", "javascript:alert(1)"),
        registers("data", "a data URL as redirect URI", "data:text/html,x"),
        registers("http", "a redirect URI without TLS", "http://client.invalid/callback"),
        registers("fragment", "a redirect URI with a fragment", "https://client.invalid/callback#x"),
        registers("relative", "a relative redirect URI", "/callback"),
        registers("empty", "no redirect URI", nil),
    ]

    /// A registration that must be refused.
    ///
    /// - Parameter uri: its only redirect URI; nil for an empty list.
    private static func registers(_ name: String, _ title: String, _ uri: String?) -> Probe {
        probe("O11-register-\(name)", "a registration with \(title)", "RFC 7591 §5, RFC 8252 §7", login: false) {
            talk in
            guard let path = try await talk.service().registerPath else { throw Unfit("clients can't register") }
            return try await talk.register(at: path, uri.map { [$0] } ?? []).refused("the registration")
        }
    }

    // MARK: O12: metadata

    /// O12: a URL in a request must not make the target fetch from inside its network (CWE-918), nor end up in its
    /// metadata (RFC 8414 section 3.3).
    ///
    /// The fetch is noticed by the suite's listener, so `O12-document` needs a target on this machine.
    private static let documents: [Probe] =
        [("address", "127.0.0.1"), ("name", "localhost")].map { name, host in
            probe(
                "O12-document-\(name)",
                "a client whose document is at \(host), inside the network",
                "CWE-918"
            ) { talk in
                guard let canary = talk.material?.canaryURL,
                    let port = canary.split(separator: ":").last?.prefix(while: \.isNumber)
                else { throw Unfit("needs a listener, which is only there for targets on this machine") }
                let service = try await talk.service()
                guard service.fetchesDocuments else { throw Unfit("the target fetches no documents of clients") }
                let visits = talk.canaryVisits
                for scheme in ["https", "http"] {
                    _ = try await talk.authorize(
                        try await talk.person(), ["client_id": "\(scheme)://\(host):\(port)/client.json"],
                        label: "attack")
                }
                return talk.canaryVisits > visits
                    ? .failed("the target went there") : .passed("the target did not go there")
            }
        } + [
            metadata("host", "another Host", "Host: attacker.invalid\r\n"),
            metadata("forwarded", "another host in X-Forwarded-Host", "X-Forwarded-Host: attacker.invalid\r\n"),
        ]

    /// The metadata must not depend on what the request says about the host.
    ///
    /// - Parameter line: a field with its line end; `attacker.invalid` is looked for in the whole answer.
    private static func metadata(_ name: String, _ title: String, _ line: String) -> Probe {
        probe("O12-metadata-\(name)", "the metadata, asked for with \(title)", "RFC 8414 §3.3", login: false) { talk in
            let service = try await talk.service()
            guard talk.keepsBytes || name != "host" else { throw Unfit("takes a connection of its own over HTTP/1.1") }
            for path in [
                "/.well-known/oauth-authorization-server",
                "/.well-known/oauth-protected-resource" + service.resourcePath,
            ] {
                let host = name == "host" ? "" : "Host: \(talk.target.authority)\r\n"
                let answer = try await talk.attempt(
                    "attack",
                    RawRequest(text: "GET \(path) HTTP/1.1\r\n\(host)\(line)Connection: close\r\n\r\n"))
                if let answer, String(decoding: answer.bytes, as: UTF8.self).contains("attacker.invalid") {
                    return .failed("the metadata name the host that the request named")
                }
            }
            return .passed("the metadata do not name it")
        }
    }

    private static func probe(
        _ id: String, _ title: String, _ reference: String, _ needs: [Need] = [], login: Bool = true,
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: reference, expected: "refused", needs: [.oauth] + (login ? [.login] : []) + needs,
            converse)
    }
}

extension Conversation {
    /// The refresh token of a new grant.
    fileprivate func refreshable() async throws -> String {
        guard let token = try await grant(try await person()).refresh else {
            throw Unfit("clients get no refresh tokens")
        }
        return token
    }

    /// The successor of a client's refresh token.
    fileprivate func next(_ token: String) async throws -> String {
        let answer = try await refreshGrant(token)
        guard let next = answer.text("refresh_token") else { throw Unjudged("a good refresh got \(answer.status)") }
        return next
    }
}
