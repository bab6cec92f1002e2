/// O01 to O06: authorization requests that must lead to no code, and what forged consent leads to.
enum AuthorizeProbes {
    static let all: [Probe] = redirects + requests + consent

    // MARK: O01: where the answer goes

    /// O01: a redirect URI is compared with the registered ones as a string (RFC 9700 section 2.1), so each of these
    /// must be refused on a page of the target's own, without a redirect (RFC 6749 section 4.1.2.1).
    ///
    /// Skipped if the change does not apply to the client's redirect URI.
    private static let redirects: [Probe] = [
        redirect("other", "another redirect URI") { _ in "https://attacker.invalid/" },
        redirect("suffix", "the host with more after it") { uri in
            uri.replacingHost { $0 + ".attacker.invalid" }
        },
        redirect("userinfo", "the host as user information") { uri in
            uri.replacingHost { $0 + "@attacker.invalid" }
        },
        redirect("scheme", "another scheme") { uri in
            uri.hasPrefix("https:") ? "http" + uri.dropFirst(5) : "ftp" + uri.drop { $0 != ":" }
        },
        redirect("port", "another port") { uri in
            // The port of a loopback address is free (RFC 8252 section 7.3).
            uri.hasPrefix("https:") ? uri.replacingHost { $0 + ":8443" } : nil
        },
        redirect("deeper", "a path below the registered one") { $0 + "/more" },
        redirect("slash", "a slash at the end") { $0 + "/" },
        redirect("dots", "a detour in the path") { $0 + "/../other" },
        redirect("capitals", "the path in capitals") { uri in
            let host = uri.prefixThroughHost
            let path = uri.dropFirst(host.count)
            return path.uppercased() == path ? nil : host + path.uppercased()
        },
        redirect("query", "a query at the end") { $0 + "?next=1" },
        redirect("fragment", "a fragment at the end") { $0 + "#x" },
        redirect("javascript", "a script") { _ in "javascript:alert(1)//" },
        probe("O01-redirect-twice", "two redirect URIs, the registered one first", "RFC 6749 §3.1") { talk in
            let person = try await talk.person()
            let answer = try await talk.authorize(
                person, more: "&" + QueryText.form([("redirect_uri", "https://attacker.invalid/")]))
            return judged(answer, "the second redirect URI", attacker: "https://attacker.invalid")
        },
    ]

    /// An authorization request with another redirect URI. Failed if it leads there, to a code or to the page that
    /// asks.
    ///
    /// - Parameter change: makes the URI from the registered one; nil if it cannot.
    private static func redirect(
        _ name: String, _ title: String, _ change: @escaping @Sendable (String) -> String?
    ) -> Probe {
        probe("O01-redirect-\(name)", "an authorization request with \(title)", "RFC 9700 §2.1, §4.1") { talk in
            let person = try await talk.person()
            let service = try await talk.service()
            guard let uri = change(service.redirect) else { throw Unfit("does not fit the redirect URI") }
            let answer = try await talk.authorize(person, ["redirect_uri": uri], label: "attack")
            return judged(answer, "the redirect URI", attacker: uri)
        }
    }

    /// Not even an error may be sent to an address that is not registered (RFC 6749 section 4.1.2.1).
    private static func judged(_ answer: RawResponse?, _ what: String, attacker: String) -> Judgement {
        let location = answer?.field("location") ?? ""
        guard !location.hasPrefix(attacker) else { return .failed("redirected to the address that is not registered") }
        return AuthorizationOutcome(answer).judged(what)
    }

    // MARK: O02 to O05: what a request must say

    /// O02 to O05: requests without a client, without S256, for a token in the redirect, or for another resource.
    ///
    /// Passed unless they lead to a code or to the question for consent. The last one is no attack: it wants `iss` in
    /// the redirect, without which a client can be led to send a code to another server (RFC 9207 section 1).
    private static let requests: [Probe] = [
        request("O02-client-unknown", "a client that does not exist", "RFC 6749 §4.1.2.1", ["client_id": "nobody"]),
        request("O02-client-missing", "no client", "RFC 6749 §4.1.1", ["client_id": nil]),
        request(
            "O03-pkce-missing", "no code challenge", "RFC 9700 §2.1.1",
            ["code_challenge": nil, "code_challenge_method": nil]),
        request(
            "O03-pkce-plain", "the plain challenge", "RFC 9700 §2.1.1",
            ["code_challenge": Conversation.verifier, "code_challenge_method": "plain"]),
        request(
            "O03-pkce-no-method", "a challenge without its method, which means plain", "RFC 7636 §4.3",
            ["code_challenge_method": nil]),
        request("O03-pkce-empty", "an empty challenge", "RFC 7636 §4.2", ["code_challenge": ""]),
        request("O04-response-token", "the implicit grant", "RFC 9700 §2.1.2", ["response_type": "token"]),
        request(
            "O04-response-code-token", "a code and a token in the redirect", "RFC 9700 §2.1.2",
            ["response_type": "code token"]),
        request(
            "O05-resource-unknown", "a resource that does not exist", "RFC 8707 §2",
            ["resource": "https://attacker.invalid/"]),
        request(
            "O05-resource-fragment", "the resource with a fragment", "RFC 8707 §2", [:],
            more: { [("resource", $0.resource + "#x")] }, leavingOut: ["resource"]),
        request(
            "O05-resource-twice", "two resources, for a token that both accept", "RFC 8707 §2", [:],
            more: { [("resource", $0.resource + "/other")] }),
        probe("O05-issuer", "the redirect with a code names its issuer", "RFC 9207 §2") { talk in
            let service = try await talk.service()
            guard service.announcesIssuer else { throw Unfit("the metadata do not announce it") }
            let location = try await talk.code(try await talk.person()).location
            return QueryText.value("iss", inURL: location) == service.issuer
                ? .passed("it does") : .failed("it does not, so that a client can't tell mixed-up servers apart")
        },
    ]

    /// An authorization request with changes, after the same request without them has led to a code.
    ///
    /// - Parameters:
    ///   - changes: parameters with other values, or left out for nil.
    ///   - more: further parameters, made from what the metadata say.
    ///   - leavingOut: names that are only sent as `more` has them.
    private static func request(
        _ id: String, _ title: String, _ reference: String, _ changes: [String: String?],
        more: (@Sendable (AuthorizationService) -> [(String, String)])? = nil, leavingOut: [String] = []
    ) -> Probe {
        probe(id, "an authorization request with \(title)", reference) { talk in
            let person = try await talk.person()
            let service = try await talk.service()
            // The control: without the change the same request is allowed.
            _ = try await talk.code(person)
            var all = changes
            for name in leavingOut { all.updateValue(nil, forKey: name) }
            let added = more.map { "&" + QueryText.form($0(service)) } ?? ""
            return AuthorizationOutcome(try await talk.authorize(person, all, more: added, label: "attack"))
                .judged("the request")
        }
    }

    // MARK: O06: consent

    /// O06: a code without the person's own and single yes on the page that asks (RFC 6749 section 10.12).
    ///
    /// Each begins with such a page; without a client for which the person is asked, it is skipped. The last probe
    /// looks only at the page's fields, which must forbid frames (RFC 9700 section 4.16).
    private static let consent: [Probe] = [
        probe("O06-consent-forged", "consent to a request that was never made", "RFC 6749 §10.12") { talk in
            let person = try await talk.person()
            let (form, _) = try await talk.consentPage(person)
            let forged = form.replacing { String($0.reversed()) + "A" }
            return AuthorizationOutcome(try await talk.decide(person, forged, label: "attack")).judged("the form")
        },
        probe("O06-consent-twice", "the same consent a second time", "RFC 6749 §10.12") { talk in
            let person = try await talk.person()
            let (form, _) = try await talk.consentPage(person)
            guard case .code = AuthorizationOutcome(try await talk.decide(person, form)) else {
                throw Unjudged("the first consent led to no code")
            }
            return AuthorizationOutcome(try await talk.decide(person, form, label: "attack")).judged("the second time")
        },
        probe("O06-consent-foreign-origin", "consent from another site", "CWE-352") { talk in
            let person = try await talk.person()
            let (form, _) = try await talk.consentPage(person)
            let answer = try await talk.decide(person, form, origin: "https://attacker.invalid", label: "attack")
            return AuthorizationOutcome(answer).judged("the foreign Origin")
        },
        probe("O06-consent-other-person", "the consent page of another person", "RFC 6749 §10.12", [.twoUsers]) {
            talk in
            let (form, _) = try await talk.consentPage(try await talk.person())
            let answer = try await talk.decide(try await talk.shared(1), form, label: "attack")
            return AuthorizationOutcome(answer).judged("another person's page")
        },
        probe("O06-consent-deny", "a consent page that was answered no", "RFC 6749 §4.1.2.1") { talk in
            let person = try await talk.person()
            let (form, _) = try await talk.consentPage(person)
            return AuthorizationOutcome(try await talk.decide(person, form, "deny", label: "attack")).judged("the no")
        },
        probe("O06-consent-frames", "the consent page in a frame of another site", "RFC 9700 §4.16") { talk in
            let (_, page) = try await talk.consentPage(try await talk.person())
            let policy = page.fields("content-security-policy").joined(separator: ";").lowercased()
            let framing = (page.field("x-frame-options") ?? "").lowercased()
            return policy.contains("frame-ancestors 'none'") || policy.contains("frame-ancestors 'self'")
                || ["deny", "sameorigin"].contains(framing)
                ? .passed("the page forbids it") : .failed("the page can be put into a frame of any site")
        },
    ]

    private static func probe(
        _ id: String, _ title: String, _ reference: String, _ needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: reference, expected: "no code", needs: [.oauth, .login] + needs, converse)
    }
}

extension ConsentForm {
    /// The form with other values.
    ///
    /// The action and the names stay as they are.
    func replacing(_ change: (String) -> String) -> ConsentForm {
        ConsentForm(action: action, fields: fields.map { ($0.name, change($0.value)) })
    }
}

extension Conversation {
    /// The first user, who is signed in.
    func person() async throws -> Member { try await shared(0) }
}

extension String {
    /// The URI up to and including its authority.
    fileprivate var prefixThroughHost: String {
        guard let start = firstRange(of: "://") else { return self }
        return String(self[..<(self[start.upperBound...].firstIndex(of: "/") ?? endIndex)])
    }

    /// The URI with another authority.
    fileprivate func replacingHost(_ change: (String) -> String) -> String {
        let start = prefixThroughHost
        return change(start) + dropFirst(start.count)
    }
}
