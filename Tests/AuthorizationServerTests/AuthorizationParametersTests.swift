import AuthorizationServer
import Encodings
import IdentityProviders
import OAuth
import Testing

@Suite("Authorization requests") struct AuthorizationParametersTests {
    private static let resource = ProtectedResource(
        identifier: "https://gate.example/mcp", path: "/mcp", name: "Tools", scopes: ["read", "write"],
        authorizationServers: ["https://gate.example"])
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let good = [
        "response_type": "code", "client_id": "cli_a", "redirect_uri": "https://app.example/cb",
        "resource": "https://gate.example/mcp", "scope": "read", "state": "s", "code_challenge": challenge,
        "code_challenge_method": "S256",
    ]

    private func judge(
        _ changes: [String: String?] = [:], appending more: String = ""
    ) throws -> JudgedAuthorization {
        var parameters = Self.good
        for (name, value) in changes { parameters[name] = value }
        let query = FormText.encode(parameters.map { FormParameter($0.key, $0.value) }) + more
        let client = AuthorizationClient(
            id: "cli_a", name: "App", origin: .registered,
            redirectURIs: ["https://app.example/cb"].compactMap { RedirectURI($0) })
        let read = try AuthorizationParameters(query: query)
        return try read.judge(
            client: client, redirectURI: try read.redirectURI(of: client), resources: [Self.resource])
    }

    @Test("A complete request is accepted, unknown parameters are ignored, and spellings of the resource are one")
    func accepted() throws {
        #expect(try judge().scopes == ["read"])
        #expect(try judge(["nonsense": "1", "scope": nil]).scopes == [])
        #expect(try judge(["resource": "HTTPS://GATE.example:443/mcp"]).resource == Self.resource)
    }

    @Test(
        "Every other fault is told to the client",
        arguments: [
            ("response_type", nil, OAuthFault.Code.invalidRequest),
            ("response_type", "token", .unsupportedResponseType), ("code_challenge", nil, .invalidRequest),
            ("code_challenge", "short", .invalidRequest), ("code_challenge_method", nil, .invalidRequest),
            ("code_challenge_method", "plain", .invalidRequest), ("resource", nil, .invalidTarget),
            ("resource", "https://gate.example/mcp/", .invalidTarget),
            ("resource", "https://evil.example/mcp", .invalidTarget), ("scope", "a\u{7f}b", .invalidScope),
        ] as [(String, String?, OAuthFault.Code)])
    func refused(_ name: String, _ value: String?, _ code: OAuthFault.Code) throws {
        #expect(throws: OAuthFault(code, "")) { try judge([name: value]) }
    }

    @Test("A parameter that comes twice is refused", arguments: ["response_type", "code_challenge", "scope", "state"])
    func doubled(_ name: String) {
        #expect(throws: OAuthFault(.invalidRequest, "")) { try judge(appending: "&\(name)=x") }
    }

    @Test("Two resources are refused")
    func twoResources() {
        #expect(throws: OAuthFault(.invalidTarget, "")) {
            try judge(appending: "&resource=https://gate.example/mcp")
        }
    }

    @Test("Without one client and one registered redirect URI there is no redirect")
    func pages() {
        #expect(throws: AuthorizationPageFault(.clientUnknown, "")) { try judge(["client_id": nil]) }
        #expect(throws: AuthorizationPageFault(.redirectRefused, "")) { try judge(["redirect_uri": nil]) }
        #expect(throws: AuthorizationPageFault(.redirectRefused, "")) {
            try judge(["redirect_uri": "https://evil.example/cb"])
        }
        #expect(throws: AuthorizationPageFault(.redirectRefused, "")) {
            try judge(appending: "&redirect_uri=https://evil.example/cb")
        }
    }

    @Test("A redirect carries code, state and issuer, each encoded")
    func location() throws {
        let uri = try #require(RedirectURI("https://app.example/cb?x=1"))
        let location = AuthorizationRedirect.location(uri, code: "c", state: "a b&c", issuer: "https://gate.example")
        #expect(location == "https://app.example/cb?x=1&code=c&state=a%20b%26c&iss=https%3A%2F%2Fgate.example")
    }
}
