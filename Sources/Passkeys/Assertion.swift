import Encodings
import Libcrypto

/// The answer to the options of a sign-in (`AuthenticationResponseJSON`, WebAuthn Level 3 §5.1.8).
package struct Assertion: Sendable {
    /// The `acr` of a sign-in by passkey: phishing-resistant (OpenID Connect Extended Authentication Profile 1.0 §2).
    package static let authenticationContext = "phr"
    /// The longest signature, in bytes: of an RSA key with 8192 bits.
    static let maximumSignatureBytes = 1024
    /// The longest user handle, in bytes (§4).
    static let maximumUserHandleBytes = 64

    /// By which the passkey is found.
    package let credentialID: [UInt8]
    let clientDataJSON: [UInt8]
    let authenticatorData: [UInt8]
    let signature: [UInt8]
    let userHandle: [UInt8]

    /// Reads the answer. There must be a user handle: no credential was named, so the authenticator chose one of those
    /// that know whose they are.
    package init(_ object: JSONObject) throws(PasskeyRefusal) {
        credentialID = try ResponseReader.credentialID(object)
        let response = try ResponseReader.response(object)
        clientDataJSON = try ResponseReader.bytes("clientDataJSON", of: response, atMost: ClientData.maximumBytes)
        authenticatorData = try ResponseReader.bytes(
            "authenticatorData", of: response, atMost: AuthenticatorData.maximumBytes)
        signature = try ResponseReader.bytes("signature", of: response, atMost: Self.maximumSignatureBytes)
        userHandle = try ResponseReader.bytes("userHandle", of: response, atMost: Self.maximumUserHandleBytes)
    }

    /// By which the ceremony is found and taken; nil if there can be none.
    package var challengeHash: [UInt8]? { Ceremony.challengeHash(inClientData: clientDataJSON) }

    /// Finishes a sign-in (§7.2).
    ///
    /// - Parameters:
    ///   - ceremony: taken out of the store by ``challengeHash``; nil if there was none.
    ///   - passkey: of ``credentialID``; nil if none is stored.
    ///   - sessionID: of the caller's session.
    ///   - now: milliseconds since 1970.
    /// - Returns: the passkey with its new counter and backup state, to be stored before the account is signed in: by a
    ///   compare-and-set of the counter, so that of two answers with one counter only one counts.
    package func finish(
        _ ceremony: Ceremony?, _ passkey: Passkey?, _ party: RelyingParty, sessionID: String, sessionEpoch: Int64,
        now: Int64
    ) -> Result<Passkey, PasskeyRefusal> {
        do throws(PasskeyRefusal) {
            guard let ceremony else { throw .ceremonyUnknown }
            if let refusal = ceremony.refusal(
                of: .authentication, sessionID: sessionID, sessionEpoch: sessionEpoch, now: now)
            {
                throw refusal
            }
            guard var passkey, passkey.credentialID == credentialID else { throw .credentialUnknown }
            guard userHandle == Array(passkey.userID.utf8) else { throw .userHandleMismatch }
            if let refusal = try ClientData(clientDataJSON).refusal(of: ceremony, party) { throw refusal }
            let data = try AuthenticatorData(authenticatorData)
            // Attested credential data has no place in an assertion (§6.1).
            guard data.attested == nil else { throw .authenticatorDataMalformed }
            if let refusal = data.refusal(party) { throw refusal }
            let key = try PasskeyKey(passkey.publicKey, passkey.algorithm)
            guard key.isValid(signature, for: authenticatorData + Digest.sha256(clientDataJSON)) else {
                throw .signatureInvalid
            }
            guard data.isBackupEligible == passkey.isBackupEligible else { throw .backupEligibilityChanged }
            // An authenticator without a counter says 0 each time. One that counts and does not go on was copied.
            guard data.signCount > passkey.signCount || (data.signCount == 0 && passkey.signCount == 0) else {
                throw .counterRegressed
            }
            passkey.signCount = data.signCount
            passkey.isBackedUp = data.isBackedUp
            return .success(passkey)
        } catch {
            return .failure(error)
        }
    }
}
