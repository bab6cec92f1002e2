import Encodings
import Libcrypto

/// The id of a grant: what one user has given one client for one resource. It is derived from the three, so a client
/// that was authorised several times has one grant.
package enum GrantID {
    /// `grt_` followed by base64url of a hash.
    package static func make(userID: String, clientID: String, resource: String) -> String {
        let text = JSONValue.array([.string(userID), .string(clientID), .string(resource)]).serializedBytes()
        return "grt_" + Base64URL.encode(Array(Digest.sha256(text).prefix(16)))
    }
}
