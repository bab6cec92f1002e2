import Encodings
import StateSurface

/// What upstreams are told of an account, and what `allow` goes by.
///
/// It is a class, so that passing it on costs one reference count and not one per member.
package final class CallerProfile: Sendable {
    /// The account's id.
    package let userID: String
    /// The account's version; -1 if there is no such account. A profile of the same user and version says the same.
    package let version: Int64
    /// The e-mail, if it is verified; otherwise nil.
    package let email: String?
    /// The name for people; nil if there is none.
    package let name: String?
    /// The groups, at most ``maximumGroups`` of 1 to ``maximumGroupBytes`` bytes.
    package let groups: [String]
    private let emailDomain: String?
    private let memberships: Set<ByteName>

    /// The most groups that count.
    static let maximumGroups = 100
    /// The most bytes of a group that counts.
    static let maximumGroupBytes = 128

    /// The profile of an account.
    package init(_ account: AccountRecord) {
        userID = account.userID
        version = account.version
        email = account.emailVerified && NameRule.isEmail(account.email) ? account.email : nil
        name = account.name.flatMap { $0.utf8.isEmpty ? nil : $0 }
        groups = Array(
            account.groups.lazy.filter { (1...Self.maximumGroupBytes).contains($0.utf8.count) }
                .prefix(Self.maximumGroups))
        emailDomain = email.flatMap(Self.domain)
        memberships = Set(groups.map(ByteName.init))
    }

    /// The profile of a user without an account.
    init(unknown userID: String) {
        self.userID = userID
        version = -1
        email = nil
        name = nil
        groups = []
        emailDomain = nil
        memberships = []
    }

    /// Whether the account is in one of these groups.
    package func isMember(ofAny names: NameSet) -> Bool { names.meets(memberships) }

    /// Whether the verified e-mail has one of these domains, which are in lower case. Subdomains are other domains.
    package func hasDomain(in domains: NameSet) -> Bool { emailDomain.map(domains.contains) ?? false }

    /// The memory it takes, roughly, in bytes.
    package var weight: Int {
        let text = (email?.utf8.count ?? 0) + (name?.utf8.count ?? 0)
        return 256 + text + groups.reduce(0) { $0 + $1.utf8.count + 48 }
    }

    private static func domain(of email: String) -> String? {
        email.utf8.lastIndex(of: UInt8(ascii: "@")).map { at in
            lowerCased(String(decoding: email.utf8[email.utf8.index(after: at)...], as: UTF8.self))
        }
    }

    /// The text with ASCII letters in lower case, as domains are compared.
    package static func lowerCased(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
