import Encodings
import Foundation
import IdentityProviders
import JOSE
import Synchronization

/// An identity provider on loopback that is honest until a test makes it lie: real sockets, real signatures.
final class FakeProvider: Sendable {
    /// What it says; a test changes one thing at a time.
    struct Script: Sendable {
        var keys: [SigningKey]
        var claims: JSONObject = [
            "sub": "person-1", "email": "ada@idp.example", "email_verified": true, "name": "Ada",
            "groups": ["staff"], "sid": "idp-session-1",
        ]
        /// Changes the claims of an ID token before it is signed.
        var editClaims: @Sendable (inout JSONObject) -> Void = { _ in }
        /// The key that signs ID tokens; the first one of the set where nil.
        var signer: SigningKey?
        var editIDToken: @Sendable (String) -> String = { $0 }
        var editDiscovery: @Sendable (inout JSONObject) -> Void = { _ in }
        var userInfo: JSONObject = ["sub": "person-1"]
        /// Answers a path with these bytes instead; after a wait where one is given.
        var raw: [String: @Sendable () -> String] = [:]
        /// The query of the callback besides `code` and `state`.
        var response = ""
    }

    private struct Begun {
        let nonce: String?
        let challenge: String
        let redirectURI: String
    }

    private let script: Mutex<Script>
    private let begun = Mutex<[String: Begun]>([:])
    private let redeemed = Mutex<[String]>([])
    private let serverBox = Mutex<RecordingUpstream?>(nil)

    let issuer: String
    let port: Int

    init(port: Int = 0) throws {
        script = Mutex(Script(keys: [try SigningKey.generate(.es256)]))
        let box = AnswerBox()
        let server = try RecordingUpstream(port: port) { request, stream in
            try stream.send(
                box.answer.withLock { $0 }?(request) ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return .close
        }
        issuer = server.url
        self.port = server.port
        serverBox.withLock { $0 = server }
        box.answer.withLock { $0 = { [weak self] in self?.answer($0) ?? "" } }
    }

    private final class AnswerBox: Sendable {
        let answer = Mutex<(@Sendable (RecordedRequest) -> String)?>(nil)
    }

    func change(_ edit: @Sendable (inout Script) -> Void) { script.withLock { edit(&$0) } }
    /// Every request so far.
    var requests: [RecordedRequest] { serverBox.withLock { $0?.requests ?? [] } }
    func requests(to path: String) -> Int { requests.count { $0.target == path } }
    func stop() { serverBox.withLock { $0?.stop() } }

    /// The lines of a configuration for it.
    func yaml(_ more: String = "", name: String = "idp") -> String {
        """
        identity_providers:
          - name: \(name)
            issuer: \(issuer)
            client_id: gate
            client_secret: s3cret-of-the-client
            tenant: acme
        \(more.isEmpty ? "" : "    " + more)
        """ + "\n"
    }

    /// The person agrees at the provider: where the browser is sent back to.
    func authorize(_ location: String) throws -> String {
        guard let components = URLComponents(string: location), let items = components.queryItems else {
            throw GatewayFailure(description: "no authorization request: \(location)")
        }
        let value = { (name: String) in items.first { $0.name == name }?.value }
        guard let state = value("state"), let redirect = value("redirect_uri"), let challenge = value("code_challenge")
        else { throw GatewayFailure(description: "an incomplete authorization request") }
        let code = "code-of-the-provider-" + UUID().uuidString
        begun.withLock { $0[code] = Begun(nonce: value("nonce"), challenge: challenge, redirectURI: redirect) }
        let path = URLComponents(string: redirect)?.path ?? ""
        let extra = script.withLock { $0.response }
        return "\(path)?code=\(code)&state=\(state)\(extra)"
    }

    /// An ID token as the token endpoint would hand it out.
    func idToken(nonce: String? = nil, _ edit: (inout JSONObject) -> Void = { _ in }) throws -> String {
        let script = script.withLock { $0 }
        let now = Int64(Date().timeIntervalSince1970)
        var claims = script.claims
        claims["iss"] = .string(issuer)
        claims["aud"] = "gate"
        claims["iat"] = .integer(now)
        claims["exp"] = .integer(now + 300)
        if let nonce { claims["nonce"] = .string(nonce) }
        script.editClaims(&claims)
        edit(&claims)
        return script.editIDToken(try (script.signer ?? script.keys[0]).sign(claims: claims, type: "JWT"))
    }

    /// A logout token, as it is posted to the gateway.
    func logoutToken(
        signedBy key: SigningKey? = nil, type: String = "logout+jwt", _ edit: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": "gate", "iat": .integer(now), "exp": .integer(now + 120),
            "jti": .string(UUID().uuidString), "sid": "idp-session-1",
            "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
        ]
        edit(&claims)
        return try (key ?? script.withLock { $0.keys[0] }).sign(claims: claims, type: type)
    }

    // MARK: Answers

    private func answer(_ request: RecordedRequest) -> String {
        let path = String(request.target.prefix { $0 != "?" })
        let script = script.withLock { $0 }
        if let raw = script.raw[path] { return raw() }
        switch path {
        case "/.well-known/openid-configuration":
            var document: JSONObject = [
                "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
                "token_endpoint": .string(issuer + "/token"), "jwks_uri": .string(issuer + "/jwks"),
                "userinfo_endpoint": .string(issuer + "/userinfo"),
                "end_session_endpoint": .string(issuer + "/logout"), "response_types_supported": ["code"],
                "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
                "code_challenge_methods_supported": ["S256"],
            ]
            script.editDiscovery(&document)
            return Self.json(JSONValue.object(document).serialized())
        case "/jwks": return Self.json(JWKSet.publicJSON(of: script.keys.map(\.verificationKey)))
        case "/token": return token(request)
        case "/userinfo": return Self.json(JSONValue.object(script.userInfo).serialized())
        default: return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        }
    }

    private func token(_ request: RecordedRequest) -> String {
        let body = String(decoding: request.body, as: UTF8.self)
        let form = URLComponents(string: "/?" + body)?.queryItems ?? []
        let value = { (name: String) in form.first { $0.name == name }?.value ?? "" }
        let known = begun.withLock { $0.removeValue(forKey: value("code")) }
        redeemed.withLock { $0.append(value("code")) }
        let expected = "Basic " + Data("gate:s3cret-of-the-client".utf8).base64EncodedString()
        // The challenge of the verifier, as RFC 7636 has it.
        guard let known, known.redirectURI == value("redirect_uri"), request["authorization"] == expected,
            PKCE.challenge(ofVerifier: value("code_verifier")) == known.challenge,
            let idToken = try? idToken(nonce: known.nonce)
        else { return Self.json(#"{"error":"invalid_grant"}"#, status: "400 Bad Request") }
        return Self.json(
            JSONValue.object([
                "access_token": "access-token-of-the-provider", "token_type": "Bearer", "expires_in": 300,
                "id_token": .string(idToken),
            ]).serialized())
    }

    static func json(_ text: String, status: String = "200 OK", type: String = "application/json") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
            + text
    }
}
