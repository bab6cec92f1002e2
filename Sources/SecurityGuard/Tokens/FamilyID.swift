/// The `fid` of access tokens: 16 random bytes, then a dot and the version of the account the family was opened for.
///
/// The version distinguishes tokens from before and after the account was disabled, without depending on clocks.
package enum FamilyID {
    static func make(accountVersion: Int64) -> String { RandomID.make() + "." + String(accountVersion) }

    /// The version of the account in a family id; nil for a family of a client, or one of an older release.
    package static func accountVersion(of id: String) -> Int64? {
        let bytes = id.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let digits = bytes[bytes.index(after: dot)...]
        guard (1...19).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(Substring(digits))
    }
}
