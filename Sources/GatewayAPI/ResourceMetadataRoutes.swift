import AuthorizationServer
import Encodings
import HTTPTypes

/// The metadata of protected resources (RFC 9728), one document each. They are public, made once for each
/// configuration, and may be cached for five minutes.
enum ResourceMetadataRoutes {
    /// The path of a resource at `/`, and the beginning of all others.
    static let path = ProtectedResource.metadataPath(of: "/")

    /// One route for each resource, at the path that RFC 9728 section 3.1 derives from the resource's own.
    static func all(_ resources: [ProtectedResource]) -> [APIRoute] {
        resources.map { resource in
            let document = document(resource)
            return APIRoute(.get, ProtectedResource.metadataPath(of: resource.path), .open) { _, _ in
                var answer = APIAnswer.json(document)
                answer.cacheControl = WellKnownRoutes.cacheControl
                return answer
            }
        }
    }

    private static func document(_ resource: ProtectedResource) -> JSONObject {
        var document: JSONObject = [
            "resource": .string(resource.identifier),
            "authorization_servers": .array(resource.authorizationServers.map(JSONValue.string)),
            "scopes_supported": .array(resource.scopes.map(JSONValue.string)),
            "bearer_methods_supported": ["header"],
            "resource_name": .string(resource.name),
        ]
        if let documentation = resource.documentation {
            document["resource_documentation"] = .string(documentation)
        }
        return document
    }
}
