import AuthorizationServer
import Runtime
import SecurityGuard

/// How the credentials begin that the gateway issues, and the ids of sessions. The logs show none of them whole.
///
/// Each module that issues one says how it begins; whoever recognises or shortens them goes by this list.
package struct CredentialPrefix: Sendable {
    /// The prefix, with its underscore.
    package let bytes: [UInt8]
    /// How many characters must stand behind the prefix, for one that other words begin with, too.
    private let leastRest: Int

    private init(_ text: String, leastRest: Int = 0) {
        bytes = Array(text.utf8)
        self.leastRest = leastRest
    }

    /// Of session ids.
    package static let sessionID = CredentialPrefix(SessionID.prefix)
    /// Of session secrets.
    package static let sessionSecret = CredentialPrefix(SessionSecret.prefix)
    /// Of refresh tokens.
    package static let refreshToken = CredentialPrefix(Prefix.refreshToken)
    /// Of tickets.
    package static let ticket = CredentialPrefix(TicketBook.prefix)
    /// Of the secrets of clients.
    package static let clientSecret = CredentialPrefix(Prefix.clientSecret)
    /// Of personal access tokens.
    package static let personalToken = CredentialPrefix(PersonalToken.prefix)
    /// Of authorization codes. Words such as `code_redirect_mismatch` are shorter.
    package static let authorizationCode = CredentialPrefix(AuthorizationCode.prefix, leastRest: 32)

    /// All of them.
    package static let all = [
        sessionID, sessionSecret, refreshToken, ticket, clientSecret, personalToken, authorizationCode,
    ]

    /// Whether a credential, a token included, can contain the byte.
    package static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Where the first of them begins in a run of letters, digits, `-`, `_` and `.`; nil where there is none.
    package static func start(in run: ArraySlice<UInt8>) -> Int? {
        var rest = run
        while let mark = rest.firstIndex(of: UInt8(ascii: "_")) {
            for prefix in all {
                let start = mark + 1 - prefix.bytes.count
                guard start >= run.startIndex, run.endIndex - (mark + 1) >= prefix.leastRest else { continue }
                if run[start...mark].elementsEqual(prefix.bytes) { return start }
            }
            rest = run[(mark + 1)...]
        }
        return nil
    }
}
