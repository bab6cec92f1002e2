/// The role for what people grant to clients. A grant is the families of one user, client and resource.
package protocol GrantStore: Sendable {
    /// Opens the family of an authorisation. It ends with the session if `binding` names it. A client that was to be
    /// forgotten if it stayed unused is kept from now on.
    ///
    /// One transaction with the consent, and one after the other with
    /// ``endGrant(userID:clientID:resource:at:revokedUntil:)``: a grant that was ended leaves neither a family nor a
    /// consent of an authorisation that had begun before.
    /// - Returns: false, and nothing is written, if the consent that the authorisation relies on is no longer there.
    /// - Throws: `.ownerGone` if account or client have changed since they were judged, or if the session is not live,
    ///   not the user's, or of another epoch.
    func open(
        grant family: FamilyRecord, judged: JudgedOwner, in session: AuthorizingSession, consent: GrantConsent
    ) async throws -> Bool
    /// Stores a client whose id is the URL of its metadata, or changes its name. Whether it is disabled stays.
    func keep(documentClient record: ClientRecord) async throws
    /// The remembered consent, or nil.
    func consent(userID: String, clientID: String, resource: String) async throws -> ConsentRecord?
    /// All consents that are remembered of a user, oldest first.
    func consents(userID: String) async throws -> [ConsentRecord]
    /// Ends every live family of the user, client and resource, with their tokens, and forgets the consent, in one
    /// transaction.
    /// - Returns: whether a family was live or a consent remembered.
    func endGrant(
        userID: String, clientID: String, resource: String, at: Milliseconds, revokedUntil: Milliseconds
    ) async throws -> Bool
}
