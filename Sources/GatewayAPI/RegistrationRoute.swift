import AuthorizationServer
import Encodings
import HTTPTypes
import OAuth
import SignIn
import StateSurface

/// Dynamic client registration (RFC 7591), where `clients.registration` opens it. Registered clients have no secret.
enum RegistrationRoute {
    static let path = "/oauth2/register"
    /// The name under which clients look for it that don't read the metadata.
    static let rootPath = "/register"
    static let all = [APIRoute(.post, path, terms, register), APIRoute(.post, rootPath, terms, register)]

    /// The body is metadata of a client, whose unknown members are ignored (RFC 7591 section 2).
    private static let terms = APITerms(store: true)

    /// 201 with the metadata as it was taken (RFC 7591 section 3.2.1). A registration whose metadata is taken counts
    /// against the hourly limit of its address.
    private static func register(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        guard let body = try? StrictJSON.object(call.facts.body) else {
            throw OAuthFault(.invalidClientMetadata, "The body must be a JSON object.")
        }
        let (record, metadata) = try await call.services.agents.register(body, address: call.facts.clientAddress)
        var document: JSONObject = [
            "client_id": .string(record.clientID),
            "client_id_issued_at": .integer(record.createdAt / 1000),
            "client_name": .string(record.name),
            "redirect_uris": .array(metadata.redirectURIs.map { .string($0.text) }),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        ]
        if !metadata.scopes.isEmpty { document["scope"] = .string(metadata.scopes.joined(separator: " ")) }
        return .created(document)
    }
}
