import Encodings

/// A passkey as it is stored (the credential record of WebAuthn Level 3 §4). Nothing in it is secret.
package struct Passkey: Sendable, Equatable {
    /// The longest credential id, in bytes (§4).
    package static let maximumIDBytes = 1023

    /// What the authenticator calls it; unique among all accounts.
    package let credentialID: [UInt8]
    /// The account that it signs in to; its UTF-8 bytes are the user handle.
    package let userID: String
    /// DER SubjectPublicKeyInfo.
    package let publicKey: [UInt8]
    /// The algorithm of its signatures, fixed at registration.
    package let algorithm: PasskeyAlgorithm
    /// The authenticator's counter; 0 for one that has none.
    package var signCount: UInt32
    /// Whether it may be copied to other devices; never changes.
    package let isBackupEligible: Bool
    /// Whether it was copied.
    package var isBackedUp: Bool
    /// The authenticator's model; zeros where attestation `none` hides it.
    package let aaguid: [UInt8]
    /// Hints for the browser, of the words that are known.
    package let transports: [String]
    /// Milliseconds since 1970.
    package let createdAt: Int64

    package init(
        credentialID: [UInt8], userID: String, publicKey: [UInt8], algorithm: PasskeyAlgorithm, signCount: UInt32,
        isBackupEligible: Bool, isBackedUp: Bool, aaguid: [UInt8], transports: [String], createdAt: Int64
    ) {
        self.credentialID = credentialID
        self.userID = userID
        self.publicKey = publicKey
        self.algorithm = algorithm
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.aaguid = aaguid
        self.transports = transports
        self.createdAt = createdAt
    }

    /// The credential as the options of both ceremonies name it (`PublicKeyCredentialDescriptorJSON`).
    var descriptor: JSONValue {
        var object: JSONObject = ["type": "public-key", "id": .string(Base64URL.encode(credentialID))]
        if !transports.isEmpty { object["transports"] = .array(transports.map(JSONValue.string)) }
        return .object(object)
    }

    /// The words of `AuthenticatorTransport` (§5.8.4) among texts, each once.
    static func transports(among texts: [String]) -> [String] {
        ["ble", "hybrid", "internal", "nfc", "smart-card", "usb"].filter { known in
            texts.contains { $0.hasSameBytes(as: known) }
        }
    }
}
