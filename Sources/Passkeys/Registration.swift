import Encodings

/// The answer to the options of a registration (`RegistrationResponseJSON`, WebAuthn Level 3 §5.1.8), as the browser's
/// own `toJSON()` writes it.
///
/// **What is proved by it.** Attestation is `none`, so an authenticator signs nothing here. The browser vouches, in the
/// client data, for challenge, origin and type; everything else is what the page of the origin hands over. The public
/// key is taken as SubjectPublicKeyInfo from `getPublicKey()`, not out of the COSE key in the authenticator data, and
/// nothing proves that the two are the same key, that the page did not exchange it, or that any authenticator holds it.
/// With attestation `none` the COSE key would prove no more: the same page could write both. A page that lies makes a
/// passkey that its own signed-in user can't use, or one for a key that it made itself, and a script that runs in the
/// page of a signed-in user could register a whole authenticator of its own just as well. What counts is that a passkey
/// only ever signs in to the account whose session registered it, and that each sign-in needs a signature by the
/// registered key.
package struct Registration: Sendable {
    /// Of the new passkey, as the browser names it.
    package let credentialID: [UInt8]
    let clientDataJSON: [UInt8]
    let authenticatorData: [UInt8]
    let publicKey: [UInt8]
    let algorithmNumber: Int64
    let transports: [String]

    /// Reads the answer.
    package init(_ object: JSONObject) throws(PasskeyRefusal) {
        credentialID = try ResponseReader.credentialID(object)
        let response = try ResponseReader.response(object)
        clientDataJSON = try ResponseReader.bytes("clientDataJSON", of: response, atMost: ClientData.maximumBytes)
        authenticatorData = try ResponseReader.bytes(
            "authenticatorData", of: response, atMost: AuthenticatorData.maximumBytes)
        publicKey = try ResponseReader.bytes("publicKey", of: response, atMost: PasskeyKey.maximumBytes)
        guard let number = response["publicKeyAlgorithm"]?.int64Value else { throw .responseMalformed }
        algorithmNumber = number
        transports = Passkey.transports(among: response["transports"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    }

    /// By which the ceremony is found and taken; nil if there can be none.
    package var challengeHash: [UInt8]? { Ceremony.challengeHash(inClientData: clientDataJSON) }

    /// Finishes a registration (§7.1).
    ///
    /// - Parameters:
    ///   - ceremony: taken out of the store by ``challengeHash``; nil if there was none.
    ///   - sessionID: of the caller's session, which is signed in.
    ///   - isKnown: whether a passkey with this credential id is stored already, for any account.
    ///   - now: milliseconds since 1970.
    package func finish(
        _ ceremony: Ceremony?, _ party: RelyingParty, sessionID: String, sessionEpoch: Int64,
        isKnown: (_ credentialID: [UInt8]) -> Bool, now: Int64
    ) -> Result<Passkey, PasskeyRefusal> {
        do throws(PasskeyRefusal) {
            guard let ceremony, let userID = ceremony.userID else { throw .ceremonyUnknown }
            if let refusal = ceremony.refusal(
                of: .registration, sessionID: sessionID, sessionEpoch: sessionEpoch, now: now)
            {
                throw refusal
            }
            if let refusal = try ClientData(clientDataJSON).refusal(of: ceremony, party) { throw refusal }
            let data = try AuthenticatorData(authenticatorData)
            if let refusal = data.refusal(party) { throw refusal }
            guard let attested = data.attested else { throw .authenticatorDataMalformed }
            guard attested.credentialID == credentialID else { throw .credentialIDMismatch }
            guard let algorithm = PasskeyAlgorithm(rawValue: algorithmNumber) else { throw .algorithmMismatch }
            _ = try PasskeyKey(publicKey, algorithm)
            guard !isKnown(credentialID) else { throw .credentialKnown }
            return .success(
                Passkey(
                    credentialID: credentialID, userID: userID, publicKey: publicKey, algorithm: algorithm,
                    signCount: data.signCount, isBackupEligible: data.isBackupEligible, isBackedUp: data.isBackedUp,
                    aaguid: attested.aaguid, transports: transports, createdAt: now))
        } catch {
            return .failure(error)
        }
    }
}
