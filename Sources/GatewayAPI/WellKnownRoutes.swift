import AuthorizationServer
import Encodings
import HTTPTypes
import SecurityGuard
import SignIn

/// The public documents: the key set and the server's metadata (RFC 7517, RFC 8414). Both use the configured issuer,
/// never `Host`. Both may be cached for five minutes, so a new key must be announced for longer than that before it
/// signs.
enum WellKnownRoutes {
    /// RFC 7517 section 5. It answers `If-None-Match` with 304.
    static let keysPath = "/.well-known/jwks.json"
    /// RFC 8414 section 3.
    static let metadataPath = "/.well-known/oauth-authorization-server"
    /// For five minutes, the metadata of resources as well.
    static let cacheControl = "public, max-age=300"

    static let all = [
        APIRoute(.get, keysPath, .open, keys),
        APIRoute(.get, metadataPath, .open, metadata),
    ]

    /// The key set as it is now, with a strong entity tag.
    private static func keys(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let ring = call.services.securityGuard.keyRing
        let headers = [(name: "ETag", value: ring.etag)]
        if let wanted = call.ifNoneMatch, matches(wanted, ring.etag) {
            return APIAnswer(status: .notModified, contentType: nil, cacheControl: cacheControl, headers: headers)
        }
        return APIAnswer(cacheControl: cacheControl, body: ring.jwks, headers: headers)
    }

    /// What the server supports under the present configuration: codes and the authorization endpoint only
    /// where there is a resource, the registration endpoint only where it is open.
    private static func metadata(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let issuer = call.services.issuer
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let authentication: JSONValue = ["client_secret_basic", "client_secret_post"]
        let agents = call.services.agents.settings
        let hasResources = !agents.grantable.isEmpty
        let grants = OAuthGrant.all.filter { hasResources || $0 != OAuthGrant.authorizationCode }
        var document: JSONObject = [
            "issuer": .string(issuer),
            "jwks_uri": .string(base + keysPath),
            "token_endpoint": .string(base + OAuthRoutes.tokenPath),
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            "grant_types_supported": .array(grants.map(JSONValue.string)),
            "response_types_supported": hasResources ? ["code"] : [],
            "introspection_endpoint": .string(base + OAuthRoutes.introspectionPath),
            "introspection_endpoint_auth_methods_supported": authentication,
            "revocation_endpoint": .string(base + OAuthRoutes.revocationPath),
            "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        ]
        if hasResources { addAgents(to: &document, base: base, agents) }
        var answer = APIAnswer.json(document)
        answer.cacheControl = cacheControl
        return answer
    }

    /// What clients of resources need: how to ask a person, and how to become known.
    private static func addAgents(to document: inout JSONObject, base: String, _ agents: AgentSettings) {
        document["authorization_endpoint"] = .string(base + AuthorizeRoutes.path)
        document["code_challenge_methods_supported"] = ["S256"]
        document["client_id_metadata_document_supported"] = .bool(true)
        document["authorization_response_iss_parameter_supported"] = .bool(true)
        if agents.registration { document["registration_endpoint"] = .string(base + RegistrationRoute.path) }
        var scopes: [String] = []
        for scope in agents.grantable.flatMap(\.scopes) where !scope.hasSameBytes(as: "offline_access") {
            if !scopes.contains(where: { $0.hasSameBytes(as: scope) }) { scopes.append(scope) }
        }
        document["scopes_supported"] = .array(scopes.map(JSONValue.string))
    }

    /// Whether one of the entity tags of `If-None-Match` is ours, compared weakly (RFC 9110 section 13.1.2).
    private static func matches(_ list: String, _ etag: String) -> Bool {
        list.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            var tag = part.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            while tag.last == UInt8(ascii: " ") || tag.last == UInt8(ascii: "\t") { tag.removeLast() }
            if tag.elementsEqual("*".utf8) { return true }
            if tag.starts(with: "W/".utf8) { tag = tag.dropFirst(2) }
            return tag.elementsEqual(etag.utf8)
        }
    }
}
