import Encodings
import Libcrypto

/// A ceremony that begins: the options for the browser, and what is stored meanwhile.
package struct BegunCeremony: Sendable {
    /// `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON` (WebAuthn Level 3 §5.1.8-9).
    package let options: JSONObject
    /// What is stored until the authenticator has answered.
    package let ceremony: Ceremony

    /// Begins a registration.
    ///
    /// - Parameters:
    ///   - userID: the account; its bytes are the user handle, so it must not say anything about the person.
    ///   - userName: what tells accounts apart where the authenticator lists them, an e-mail address.
    ///   - displayName: the person's name.
    ///   - existing: the account's passkeys, so that no authenticator gets a second one.
    ///   - now: milliseconds since 1970.
    package static func registration(
        _ party: RelyingParty, userID: String, userName: String, displayName: String, existing: [Passkey],
        sessionID: String, sessionEpoch: Int64, now: Int64
    ) -> BegunCeremony {
        let challenge = Challenge()
        let options: JSONObject = [
            "rp": ["id": .string(party.id), "name": .string(party.name)],
            "user": [
                "id": .string(Base64URL.encode(userID.utf8)), "name": .string(userName),
                "displayName": .string(displayName),
            ],
            "challenge": .string(challenge.text),
            "pubKeyCredParams": .array(
                PasskeyAlgorithm.allCases.map { ["type": "public-key", "alg": .integer($0.rawValue)] }),
            "timeout": .integer(RelyingParty.timeout),
            "excludeCredentials": .array(existing.map(\.descriptor)),
            "authenticatorSelection": [
                "residentKey": "required", "requireResidentKey": true, "userVerification": party.userVerification,
            ],
            "attestation": "none",
        ]
        return BegunCeremony(
            options: options,
            ceremony: Ceremony(
                kind: .registration, challengeHash: challenge.hash, sessionID: sessionID, sessionEpoch: sessionEpoch,
                userID: userID, createdAt: now))
    }

    /// Begins a sign-in. No credential is named: that would show who has one.
    package static func authentication(
        _ party: RelyingParty, sessionID: String, sessionEpoch: Int64, now: Int64
    ) -> BegunCeremony {
        let challenge = Challenge()
        let options: JSONObject = [
            "challenge": .string(challenge.text), "timeout": .integer(RelyingParty.timeout),
            "rpId": .string(party.id), "allowCredentials": .array([]), "userVerification": party.userVerification,
        ]
        return BegunCeremony(
            options: options,
            ceremony: Ceremony(
                kind: .authentication, challengeHash: challenge.hash, sessionID: sessionID,
                sessionEpoch: sessionEpoch, userID: nil, createdAt: now))
    }
}
