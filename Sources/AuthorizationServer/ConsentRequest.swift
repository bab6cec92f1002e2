import Encodings
import IdentityProviders
import Libcrypto

/// A question to a person whether a client may have access, as it is stored until the person decides: once, within ten
/// minutes, in the session that was asked.
package struct ConsentRequest: Sendable, Equatable {
    /// How long the person may take, in milliseconds.
    package static let lifetime: Int64 = 600_000
    /// The most that a session may have at a time; one more drops the oldest.
    package static let maximumPerSession = 20
    /// The kind of its record in the store.
    package static let kind = "consent"

    /// The session that was asked.
    package let sessionID: String
    /// The session's epoch: a session that has changed hands is not asked any more.
    package let sessionEpoch: Int64
    /// The person.
    package let userID: String
    /// The client.
    package let clientID: String
    /// Where the answer goes.
    package let redirectURI: String
    /// The resource.
    package let resource: String
    /// The scopes that were shown.
    package let scopes: [String]
    /// The client's `state`.
    package let state: String?
    /// The PKCE challenge.
    package let challenge: String

    package init(
        sessionID: String, sessionEpoch: Int64, userID: String, clientID: String, redirectURI: String,
        resource: String, scopes: [String], state: String?, challenge: String
    ) {
        self.sessionID = sessionID
        self.sessionEpoch = sessionEpoch
        self.userID = userID
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.resource = resource
        self.scopes = scopes
        self.state = state
        self.challenge = challenge
    }

    /// A new value for the form's hidden field.
    package static func randomID() -> String { Base64URL.encode(SecureRandom.bytes(32)) }

    /// The hash by which a request is found.
    package static func hash(_ id: String) -> [UInt8] { Digest.sha256(id.utf8) }

    /// Whether the session that sends the decision is the one that was asked.
    package func wasAsked(of sessionID: String, epoch: Int64, userID: String) -> Bool {
        sessionID.hasSameBytes(as: self.sessionID) && epoch == sessionEpoch && userID.hasSameBytes(as: self.userID)
    }

    /// The query of an authorization request that asks the same.
    package var query: String {
        var parameters = [
            FormParameter("response_type", "code"), FormParameter("client_id", clientID),
            FormParameter("redirect_uri", redirectURI), FormParameter("resource", resource),
            FormParameter("code_challenge", challenge), FormParameter("code_challenge_method", "S256"),
        ]
        if !scopes.isEmpty { parameters.append(FormParameter("scope", scopes.joined(separator: " "))) }
        if let state { parameters.append(FormParameter("state", state)) }
        return FormText.encode(parameters)
    }

    /// The record's payload.
    package var stored: [UInt8] {
        var object: JSONObject = [
            "session": .string(sessionID), "epoch": .integer(sessionEpoch), "user": .string(userID),
            "client": .string(clientID), "redirect": .string(redirectURI), "resource": .string(resource),
            "scopes": .array(scopes.map(JSONValue.string)), "challenge": .string(challenge),
        ]
        if let state { object["state"] = .string(state) }
        return JSONValue.object(object).serializedBytes()
    }

    /// Reads a record's payload.
    package init?(stored bytes: [UInt8]) {
        guard let object = try? StrictJSON.object(bytes), let session = object["session"]?.stringValue,
            let epoch = object["epoch"]?.int64Value, let user = object["user"]?.stringValue,
            let client = object["client"]?.stringValue, let redirect = object["redirect"]?.stringValue,
            let resource = object["resource"]?.stringValue, let scopes = object["scopes"]?.arrayValue,
            let challenge = object["challenge"]?.stringValue
        else { return nil }
        self.init(
            sessionID: session, sessionEpoch: epoch, userID: user, clientID: client, redirectURI: redirect,
            resource: resource, scopes: scopes.compactMap(\.stringValue), state: object["state"]?.stringValue,
            challenge: challenge)
    }
}
