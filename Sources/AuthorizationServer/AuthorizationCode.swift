import Encodings
import Libcrypto
import OAuth

/// An authorization code: `code_` and base64url of 32 random bytes, of which only the hash is stored.
///
/// The family of refresh tokens is written when the code is issued, without a refresh token and with the end of the
/// code as its end. The code is used by giving this family its first refresh token, which the store does once. So a
/// second use is found, however close it is, and whatever ends the authorisation ends its unused codes.
package struct AuthorizationCode: Sendable, Equatable {
    /// How long a code may be used, in milliseconds.
    package static let lifetime: Int64 = 60_000
    /// How long its record is kept, so that a second use ends the family.
    package static let memory: Int64 = 86_400_000
    /// The kind of its record in the store.
    package static let kind = "authorization_code"
    /// The prefix of every code.
    package static let prefix = "code_"

    /// The family that it gives access to.
    package let familyID: String
    /// The client that it was issued to.
    package let clientID: String
    /// The redirect URI of the request.
    package let redirectURI: String
    /// The PKCE challenge of the request.
    package let challenge: String
    /// The resource of the request.
    package let resource: String

    package init(familyID: String, clientID: String, redirectURI: String, challenge: String, resource: String) {
        self.familyID = familyID
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.challenge = challenge
        self.resource = resource
    }

    /// A new code.
    package static func random() -> String { prefix + Base64URL.encode(SecureRandom.bytes(32)) }

    /// The hash by which a code is found; nil for a text that is no code.
    package static func hash(_ text: String) -> [UInt8]? {
        guard text.utf8.count == prefix.utf8.count + 43, text.utf8.starts(with: prefix.utf8) else { return nil }
        return Digest.sha256(text.utf8)
    }

    /// The refusal of a code. Clients are told the same whatever is wrong with it.
    package static func refused(_ reason: String) -> OAuthFault {
        OAuthFault(.invalidGrant, "The authorization code is not accepted.", reason: reason)
    }

    /// Checks what a client presents with the code.
    /// - Parameters:
    ///   - redirectURI: compared if it is given; PKCE already binds the code to the request.
    ///   - resource: the value of `resource`; none, or the one of the request.
    /// - Throws: `invalid_grant` for a code of another client, another redirect URI than the request's and a PKCE
    ///   verifier that is missing or wrong; `invalid_target` for another resource.
    package func check(
        clientID: String, redirectURI: String?, verifier: String?, resource: String?
    ) throws(OAuthFault) {
        guard clientID.hasSameBytes(as: self.clientID) else { throw Self.refused("code_foreign_client") }
        if let redirectURI, !redirectURI.hasSameBytes(as: self.redirectURI) {
            throw Self.refused("code_redirect_mismatch")
        }
        guard let verifier, ProofKey.verifies(verifier, challenge: challenge) else { throw Self.refused("pkce_failed") }
        if let resource, !ResourceIdentifier.areSame(resource, self.resource) {
            throw OAuthFault(.invalidTarget, "The code is for another resource.", reason: "code_resource_mismatch")
        }
    }

    /// The record's payload.
    package var stored: [UInt8] {
        JSONValue.object([
            "family": .string(familyID), "client": .string(clientID), "redirect": .string(redirectURI),
            "challenge": .string(challenge), "resource": .string(resource),
        ]).serializedBytes()
    }

    /// Reads a record's payload.
    package init?(stored bytes: [UInt8]) {
        guard let object = try? StrictJSON.object(bytes), let family = object["family"]?.stringValue,
            let client = object["client"]?.stringValue, let redirect = object["redirect"]?.stringValue,
            let challenge = object["challenge"]?.stringValue, let resource = object["resource"]?.stringValue
        else { return nil }
        self.init(
            familyID: family, clientID: client, redirectURI: redirect, challenge: challenge, resource: resource)
    }
}
