/// The rule for which tokens of a subject are revoked.
package struct SubjectCut: Sendable, Equatable {
    package var issuedUntil: Int64
    package var accountVersion: Int64?

    package init(issuedUntil: Int64, accountVersion: Int64?) {
        self.issuedUntil = issuedUntil
        self.accountVersion = accountVersion
    }

    /// Whether a token is revoked.
    /// - Parameter issuedAt: the token's `iat` in milliseconds.
    package func ends(issuedAt: Int64, familyID: String?) -> Bool {
        if let accountVersion, let version = familyID.flatMap(FamilyID.accountVersion) {
            return version < accountVersion
        }
        return issuedAt <= issuedUntil
    }

    func joined(with other: SubjectCut) -> SubjectCut {
        let versions = [accountVersion, other.accountVersion].compactMap(\.self)
        return SubjectCut(issuedUntil: max(issuedUntil, other.issuedUntil), accountVersion: versions.max())
    }
}
