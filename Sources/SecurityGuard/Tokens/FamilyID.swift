/// The `fid` of access tokens: 16 random bytes, then a dot and the version of the account the family was opened for.
///
/// The version tells tokens from before an account was disabled from those of later, and needs no clock for it.
package enum FamilyID {
    static func make(accountVersion: Int64) -> String { RandomID.make() + "." + String(accountVersion) }

    /// nil for a family that names none: one of a client, or one that was opened by an older release.
    package static func accountVersion(of id: String) -> Int64? {
        let bytes = id.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let digits = bytes[bytes.index(after: dot)...]
        guard (1...19).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(Substring(digits))
    }
}

/// Which tokens of a subject are revoked.
package struct SubjectCut: Sendable, Equatable {
    package var issuedUntil: Int64
    package var accountVersion: Int64?

    package init(issuedUntil: Int64, accountVersion: Int64?) {
        self.issuedUntil = issuedUntil
        self.accountVersion = accountVersion
    }

    /// - Parameter issuedAt: the token's `iat` in ms.
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
