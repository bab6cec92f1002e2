import Encodings
import JOSE

@testable import IdentityProviders

/// Keys that the tests share.
enum TestKeys {
    static let provider = Result { try SigningKey.generate(.es256) }
    static let other = Result { try SigningKey.generate(.es256) }
    static let rsa = Result { try SigningKey.generate(.rs256) }
    static let symmetric = Result { try SigningKey.generate(.hs256) }
}

/// Milliseconds since 1970, where the tests begin.
let start: Int64 = 1_800_000_000_000

let gatewayIssuer = "https://gate.example"

let session = BrowserSession(sessionID: "ses_1", epoch: 3, secret: "sec_of_the_browser")

/// A provider that is honest, and everything about it that a test can make a lie of.
struct Script: Sendable {
    static let accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"

    var configuration = Script.openID
    var discovery: JSONObject = [
        "issuer": "https://idp.example", "authorization_endpoint": "https://idp.example/authorize?tenant=1",
        "token_endpoint": "https://idp.example/token", "jwks_uri": "https://keys.example/jwks",
        "userinfo_endpoint": "https://idp.example/userinfo",
        "end_session_endpoint": "https://idp.example/logout", "response_types_supported": ["code"],
        "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256", "ES256"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    ]
    var discoveryAnswer: @Sendable (ProviderAnswer) throws -> ProviderAnswer = { $0 }
    var keys: [SigningKey]
    var keySetAnswer: @Sendable (ProviderAnswer) throws -> ProviderAnswer = { $0 }
    /// The parameters of the callback, as an honest provider sends them.
    var response: @Sendable ([FormParameter]) -> [FormParameter] = { $0 }
    var signer: SigningKey
    var type: String? = "JWT"
    var header: JSONObject = [:]
    var claims: JSONObject = [
        "iss": "https://idp.example", "sub": "person-1", "aud": "client", "azp": "client", "exp": 1_800_000_300,
        "iat": 1_800_000_000, "auth_time": 1_799_999_990, "at_hash": "77QmUPtjPfzWtF2AnpK9RQ",
        "email": "ada@example.com", "email_verified": true, "name": "Ada", "groups": ["staff", "admins"],
        "acr": "phr", "amr": ["hwk", "pin"], "sid": "idp-session-1",
    ]
    /// After the nonce was put in.
    var editClaims: @Sendable (inout JSONObject) -> Void = { _ in }
    var editIDToken: @Sendable (String) -> String = { $0 }
    var tokens: JSONObject = [
        "access_token": .string(Script.accessToken), "token_type": "Bearer", "expires_in": 300,
        "refresh_token": "never used",
    ]
    var editTokens: @Sendable (inout JSONObject) -> Void = { _ in }
    var tokenAnswer: @Sendable (ProviderAnswer) throws -> ProviderAnswer = { $0 }
    var userInfo: JSONObject = ["sub": "person-1", "department": "engines"]
    var userInfoAnswer: @Sendable (ProviderAnswer) throws -> ProviderAnswer = { $0 }
    var emails: JSONValue = [
        ["email": "old@example.com", "primary": false, "verified": true],
        ["email": "ada@example.com", "primary": true, "verified": true],
    ]
    var hints = LoginHints()
    var returnTo = "/cart?step=2"
    /// The session of the browser that comes back.
    var sessionAtReturn: BrowserSession? = session
    /// Milliseconds between leaving and coming back.
    var delay: Int64 = 5_000

    init() throws {
        signer = try TestKeys.provider.get()
        keys = [try TestKeys.provider.get(), try TestKeys.rsa.get()]
    }

    static let openID: ProviderConfiguration = {
        var provider = ProviderConfiguration(
            name: "acme", issuer: "https://idp.example", clientID: "client", clientAuthentication: .none)
        if let secret = ClientSecret("s3cret"), let basic = ClientAuthentication(.secretBasic, secret: secret) {
            provider.clientAuthentication = basic
        }
        return provider
    }()

    static let github: ProviderConfiguration = {
        var provider = openID
        ProviderPreset.github.apply(to: &provider)
        return provider
    }()

    /// A script of OAuth 2.0 alone.
    static func oauth2() throws -> Script {
        var script = try Script()
        script.configuration = github
        script.userInfo = ["id": 583_231, "login": "ada", "name": "Ada", "email": "public@example.com"]
        return script
    }

    func idToken(nonce: String?) throws -> String {
        var claims = claims
        claims["nonce"] = nonce.map(JSONValue.string)
        editClaims(&claims)
        return editIDToken(try signer.sign(payload: claims.serializedBytes(), type: type, extraHeader: header))
    }
}

extension ProviderAnswer {
    static func json(_ value: JSONValue, status: Int = 200, type: String = "application/json; charset=utf-8") -> Self {
        ProviderAnswer(status: status, contentType: type, body: value.serializedBytes())
    }

    func with(status: Int? = nil, contentType: String? = nil, body: [UInt8]? = nil) -> ProviderAnswer {
        ProviderAnswer(
            status: status ?? self.status, contentType: contentType ?? self.contentType, body: body ?? self.body)
    }
}
