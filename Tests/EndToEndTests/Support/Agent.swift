import Foundation
import Testing

/// A client of the authorization server: the requests that an agent and the browser of its person make.
struct Agent {
    static let redirect = "http://127.0.0.1/cb"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let gateway: any GatewayUnderTest
    let clientID: String
    var redirect = Agent.redirect
    var resource: String
    /// The origin of the gateway's own pages.
    var origin: String

    /// A gateway with one resource at `/mcp`, and a route without.
    static func configuration(_ upstream: String, more: String = "", resource: String = "") -> String {
        """
        clients: {registration: true}
        limits: {enabled: false}
        routes:
          - {path: /mcp, upstream: \(upstream), resource: {name: Tools, scopes: [read, write]\(resource)}, scopes: [read]}
          - {path: /plain, upstream: \(upstream), require: token}
        \(more)
        """
    }

    /// Registers a client by itself.
    /// - Parameter issuer: `tokens.issuer`, where it is not where the gateway listens.
    init(_ gateway: any GatewayUnderTest, redirect: String = Agent.redirect, issuer: String? = nil) throws {
        let answer = try gateway.request(
            "POST", "/oauth2/register", json: ["client_name": "Test <b>agent</b>", "redirect_uris": [redirect]])
        let id = answer.json["client_id"] as? String ?? ""
        self.init(gateway, clientID: id, redirect: redirect, issuer: issuer)
    }

    init(
        _ gateway: any GatewayUnderTest, clientID: String, redirect: String = Agent.redirect, issuer: String? = nil
    ) {
        self.gateway = gateway
        self.clientID = clientID
        self.redirect = redirect
        origin = issuer ?? gateway.origin
        resource = origin + "/mcp"
    }

    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// The query of an authorization request, with changes; a nil value leaves a parameter out.
    func query(_ changes: [String: String?] = [:]) -> String {
        var parameters: [String: String] = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirect, "resource": resource,
            "state": "st", "code_challenge": Self.challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { parameters[name] = value }
        return parameters.map { "\($0.key)=\(Self.encode($0.value))" }.sorted().joined(separator: "&")
    }

    /// The authorization request, in the browser of a person.
    func authorize(_ person: LoggedIn?, _ changes: [String: String?] = [:]) throws -> RawResponse {
        try gateway.request(
            "GET", "/oauth2/authorize?" + query(changes), headers: person.map { [Self.cookie($0)] } ?? [])
    }

    static func cookie(_ person: LoggedIn) -> (String, String) { ("Cookie", "gatehouse=\(person.sessionSecret)") }

    /// The hidden field of a consent page.
    static func field(_ page: RawResponse) -> String {
        page.text.components(separatedBy: "name=\"request\" value=\"").dropFirst().first?
            .components(separatedBy: "\"").first ?? ""
    }

    /// Sends the form of a consent page.
    func decide(
        _ person: LoggedIn, _ field: String, _ decision: String = "allow", offline: Bool = false,
        headers: [(String, String)]? = nil
    ) throws -> RawResponse {
        var form = [("request", field), ("decision", decision)]
        if offline { form.append(("offline", "true")) }
        return try gateway.form(
            "/oauth2/authorize", form, headers: [Self.cookie(person)] + (headers ?? [("Origin", origin)]))
    }

    /// The parameters of a redirect to the client.
    static func parameters(_ answer: RawResponse) -> [String: String] {
        let items = URLComponents(string: answer["location"] ?? "")?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
    }

    /// A code that the person has allowed.
    func code(_ person: LoggedIn, _ changes: [String: String?] = [:], offline: Bool = false) throws -> String {
        let page = try authorize(person, changes)
        let decided = try decide(person, Self.field(page), offline: offline)
        return try #require(Self.parameters(decided)["code"], "\(page.status) \(decided.status) \(decided.text)")
    }

    /// The token request for a code, with changes.
    func redeem(_ code: String, _ changes: [String: String?] = [:]) throws -> RawResponse {
        var parameters: [String: String] = [
            "grant_type": "authorization_code", "code": code, "client_id": clientID, "redirect_uri": redirect,
            "code_verifier": Self.verifier,
        ]
        for (name, value) in changes { parameters[name] = value }
        return try gateway.form("/oauth2/token", parameters.map { ($0.key, $0.value) })
    }

    func refresh(_ token: String, _ changes: [String: String] = [:]) throws -> RawResponse {
        var parameters = ["grant_type": "refresh_token", "refresh_token": token, "client_id": clientID]
        parameters.merge(changes) { $1 }
        return try gateway.form("/oauth2/token", parameters.map { ($0.key, $0.value) })
    }

    /// Authorises from beginning to end.
    func tokens(
        _ person: LoggedIn, _ changes: [String: String?] = [:], offline: Bool = false
    ) throws -> (access: String, refresh: String) {
        let answer = try redeem(try code(person, changes, offline: offline))
        return (answer.json["access_token"] as? String ?? "", answer.json["refresh_token"] as? String ?? "")
    }

    /// A request to the resource.
    func call(
        _ token: String, _ method: String = "POST", path: String = "/mcp", headers: [(String, String)] = []
    ) throws -> RawResponse {
        try gateway.request(
            method, path, headers: [("Authorization", "Bearer \(token)")] + headers,
            body: method == "POST" ? "{}" : nil)
    }
}

extension GatewayUnderTest {
    /// What the person has granted.
    func grants(_ person: LoggedIn) throws -> [[String: Any]] {
        try request("GET", "/api/auth/grants", headers: [person.bearer]).json["grants"] as? [[String: Any]] ?? []
    }

    func endGrant(_ id: Any?, _ person: LoggedIn) throws -> RawResponse {
        try request("DELETE", "/api/auth/grants/\(id as? String ?? "")", headers: [person.bearer])
    }

    /// Ends the first thing that the person has granted.
    func endFirstGrant(_ person: LoggedIn) throws {
        expectStatus(try endGrant(try grants(person).first?["id"], person), 204)
    }
}

extension RecordingUpstream {
    /// One that opens the protocol session that a request asks for, and streams where it is asked to.
    static func ofAgents() throws -> RecordingUpstream {
        try RecordingUpstream { request, stream in
            if request.target.hasSuffix("/stream") {
                try stream.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n")
                _ = try? stream.readSome()
                return .close
            }
            let opened = request["x-open"].map { "Mcp-Session-Id: \($0)\r\n" } ?? ""
            try stream.send("HTTP/1.1 200 OK\r\n\(opened)Content-Length: 2\r\n\r\nok")
            return .keep
        }
    }
}
