import Encodings

// MARK: The authorization server

extension Conversation {
    /// The verifier of all authorization requests and its challenge (RFC 7636 appendix B).
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// The authorization server, as the metadata of the resource and its own describe it. Clients are registered once a
    /// run.
    ///
    /// - Throws: ``Unfit`` if the profile has no `oauth` or no client can be had, ``Unjudged`` if the metadata cannot
    ///   be read.
    func service() async throws -> AuthorizationService {
        if let known = await accounts.service { return known }
        guard let settings = target.oauth else { throw Unfit(Need.oauth.absence) }
        let resource = try await document("/.well-known/oauth-protected-resource" + settings.resource)
        let server = try await document("/.well-known/oauth-authorization-server")
        guard let identifier = resource["resource"]?.stringValue, let issuer = server["issuer"]?.stringValue,
            let authorize = server["authorization_endpoint"]?.stringValue,
            let token = server["token_endpoint"]?.stringValue
        else { throw Unjudged("the metadata name no resource or no endpoints") }
        let register = server["registration_endpoint"]?.stringValue.map { QueryText.path(ofURL: $0) }
        let redirect = settings.redirectURI ?? "https://client.invalid/callback"
        let asking = "http://127.0.0.1/callback"
        var client = settings.clientID
        var other: String?
        if let register {
            if client == nil { client = try await registered(at: register, [redirect, asking]) }
            other = try? await registered(at: register, [redirect, asking])
        }
        guard let client else {
            throw Unfit("the target registers no clients: name one with 'oauth.client_id' and 'oauth.redirect_uri'")
        }
        let found = AuthorizationService(
            issuer: issuer, authorizePath: QueryText.path(ofURL: authorize), tokenPath: QueryText.path(ofURL: token),
            registerPath: register, resource: identifier, resourcePath: settings.resource, scopes: settings.scopes,
            client: client, other: other, redirect: redirect, asking: settings.clientID == nil ? asking : nil,
            fetchesDocuments: server["client_id_metadata_document_supported"] == .bool(true),
            announcesIssuer: server["authorization_response_iss_parameter_supported"] == .bool(true))
        await accounts.keep(found)
        return found
    }

    private func document(_ path: String) async throws -> JSONObject {
        let answer = try await api("GET", path, label: "metadata")
        guard answer.status == 200,
            case .success(let object) = Result(catching: { try StrictJSON.object(answer.content) })
        else { throw Unjudged("\(path) got \(answer.status): no metadata") }
        return object
    }

    private func registered(at path: String, _ redirects: [String]) async throws -> String {
        let answer = try await register(at: path, redirects)
        guard let client = answer.text("client_id") else { throw Unjudged("a registration got \(answer.status)") }
        return client
    }

    /// A registration with these redirect URIs (RFC 7591 section 3.1), and the answer to it, whatever it is.
    func register(at path: String, _ redirects: [String]) async throws -> RawResponse {
        try await api(
            "POST", path,
            body: ["client_name": "attack", "redirect_uris": .array(redirects.map { .string($0) })], label: "register")
    }

    /// Sends an authorization request in the browser of a person.
    ///
    /// - Parameter changes: parameters with other values, or left out for nil; `more` is added as it stands.
    ///
    /// - Returns: nil if the connection was ended.
    func authorize(
        _ person: Member, _ changes: [String: String?] = [:], more: String = "", label: String = "authorize"
    ) async throws -> RawResponse? {
        let service = try await service()
        var parameters: [(String, String)] = []
        for (name, value) in [
            ("response_type", "code"), ("client_id", service.client), ("redirect_uri", service.redirect),
            ("scope", service.scopes.first ?? ""), ("resource", service.resource), ("state", "xyz"),
            ("code_challenge", Self.challenge), ("code_challenge_method", "S256"),
        ] {
            let changed = changes[name] ?? value
            if let changed, !(name == "scope" && changed.isEmpty) { parameters.append((name, changed)) }
        }
        let separator = service.authorizePath.contains("?") ? "&" : "?"
        let path = service.authorizePath + separator + QueryText.form(parameters) + more
        return try await attempt(label, apiRequest("GET", path, fields: person.browserFields))
    }

    /// Sends the form of a page.
    ///
    /// - Parameters:
    ///   - form: the form with its hidden fields.
    ///   - decision: the value of `decision`: `allow` or `deny`.
    ///   - origin: the Origin of the request; nil for the target's own.
    /// - Returns: nil if the connection was ended.
    func decide(
        _ person: Member, _ form: ConsentForm, _ decision: String = "allow", origin: String? = nil,
        label: String = "decide"
    ) async throws -> RawResponse? {
        let service = try await service()
        let path = form.action.map { QueryText.path(ofURL: $0) } ?? service.authorizePath
        return try await attempt(
            label,
            formRequest(
                path, form.fields.map { ($0.name, $0.value) } + [("decision", decision)],
                fields: person.browserFields + [("Origin", origin ?? target.origin)]))
    }

    /// A page that asks the person.
    ///
    /// - Throws: ``Unfit`` without a client that the suite has registered, ``Unjudged`` if no page came.
    func consentPage(_ person: Member) async throws -> (form: ConsentForm, page: RawResponse) {
        let service = try await service()
        guard let asking = service.asking else { throw Unfit("needs a client that the suite registers itself") }
        guard let page = try await authorize(person, ["redirect_uri": asking]), let form = ConsentForm(page) else {
            throw Unjudged("a good authorization request led to no page with a form")
        }
        return (form, page)
    }

    /// A code that the person has allowed.
    ///
    /// A page that asks is answered with yes.
    ///
    /// - Throws: ``Unjudged`` if it leads to no code.
    func code(_ person: Member, _ changes: [String: String?] = [:]) async throws -> (code: String, location: String) {
        var outcome = AuthorizationOutcome(try await authorize(person, changes))
        if case .page(let page) = outcome, let form = ConsentForm(page) {
            outcome = AuthorizationOutcome(try await decide(person, form))
        }
        guard case .code(let code, let location) = outcome else {
            throw Unjudged("a good authorization request led to no code")
        }
        return (code, location)
    }

    /// The token request for a code.
    ///
    /// - Parameter changes: parameters with other values, or left out for nil.
    func redeem(
        _ code: String, _ changes: [String: String?] = [:], label: String = "token"
    ) async throws -> RawResponse {
        let service = try await service()
        return try await tokenRequest(
            [
                ("grant_type", "authorization_code"), ("code", code), ("client_id", service.client),
                ("redirect_uri", service.redirect), ("code_verifier", Self.verifier),
            ], changes, label: label)
    }

    /// The token request for a refresh token.
    func refreshGrant(
        _ token: String, _ changes: [String: String?] = [:], label: String = "refresh"
    ) async throws -> RawResponse {
        let service = try await service()
        return try await tokenRequest(
            [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", service.client)], changes,
            label: label)
    }

    private func tokenRequest(
        _ parameters: [(String, String)], _ changes: [String: String?], label: String
    ) async throws -> RawResponse {
        var form = parameters.compactMap { name, value in (changes[name] ?? value).map { (name, $0) } }
        for (name, value) in changes where !parameters.contains(where: { $0.0 == name }) {
            if let value { form.append((name, value)) }
        }
        return try await exchange(label, formRequest(try await service().tokenPath, form))
    }

    /// New tokens for the resource.
    func grant(_ person: Member) async throws -> (access: String, refresh: String?) {
        let answer = try await redeem(try await code(person).code)
        guard let access = answer.text("access_token") else { throw Unjudged("a good code got \(answer.status)") }
        return (access, answer.text("refresh_token"))
    }

    /// A request to the resource.
    func resource(
        _ token: String?, query: String = "", fields: [(String, String)] = [], label: String = "resource"
    ) async throws -> RawResponse {
        try await api("GET", try await service().resourcePath + query, token: token, fields: fields, label: label)
    }

    /// A POST of a form to the target.
    func formRequest(_ path: String, _ form: [(String, String)], fields: [(String, String)] = []) -> RawRequest {
        let body = Array(QueryText.form(form).utf8)
        let all =
            fields + [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", String(body.count)),
                ("Connection", "close"),
            ]
        return RawRequest(
            "POST", Array(path.utf8), authority: target.authority, fields: all.map { ($0.0, Array($0.1.utf8)) },
            body: body)
    }
}

extension Member {
    /// The fields that prove a person's session in requests of a browser.
    var browserFields: [(String, String)] {
        if let secret { return [("Session-Secret", secret)] }
        return cookies.isEmpty ? [] : [("Cookie", cookies)]
    }
}
