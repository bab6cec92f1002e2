import Encodings
import Libcrypto

/// A registration or sign-in that was begun: what is stored until the authenticator has answered, once, within five
/// minutes.
package struct Ceremony: Sendable, Equatable {
    /// The two ceremonies (WebAuthn Level 3 §7.1, §7.2).
    package enum Kind: String, Sendable {
        case registration
        case authentication
    }

    /// Which ceremony it is; a response of the other kind does not finish it.
    package let kind: Kind
    /// SHA-256 of the challenge; what it is found by.
    package let challengeHash: [UInt8]
    /// The session that began it; only the same one may finish it.
    package let sessionID: String
    /// Raised by every change of privilege.
    package let sessionEpoch: Int64
    /// The account that gets the passkey; nil for a sign-in, where the passkey says it.
    package let userID: String?
    /// Milliseconds since 1970.
    package let createdAt: Int64

    /// When it can no longer be finished, in milliseconds since 1970.
    package var expiresAt: Int64 { createdAt.addingReportingOverflow(RelyingParty.timeout).partialValue }

    package init(
        kind: Kind, challengeHash: [UInt8], sessionID: String, sessionEpoch: Int64, userID: String?, createdAt: Int64
    ) {
        self.kind = kind
        self.challengeHash = challengeHash
        self.sessionID = sessionID
        self.sessionEpoch = sessionEpoch
        self.userID = userID
        self.createdAt = createdAt
    }

    /// The hash by which the ceremony of a response is found: of the challenge that its client data repeats. Nil if it
    /// repeats none that could have been made here.
    package static func challengeHash(inClientData clientDataJSON: [UInt8]) -> [UInt8]? {
        guard let data = try? ClientData(clientDataJSON), data.challenge.count == Challenge.byteCount else {
            return nil
        }
        return Digest.sha256(data.challenge)
    }

    /// Judges whether it is this session's, of this kind, and in time.
    func refusal(of kind: Kind, sessionID: String, sessionEpoch: Int64, now: Int64) -> PasskeyRefusal? {
        guard self.kind == kind else { return .ceremonyUnknown }
        guard now >= createdAt, now - createdAt < RelyingParty.timeout else { return .ceremonyExpired }
        guard self.sessionID.hasSameBytes(as: sessionID), self.sessionEpoch == sessionEpoch else {
            return .ceremonyOfOtherSession
        }
        return nil
    }
}

/// The random value that an authenticator signs, so that no answer counts twice.
struct Challenge: Sendable {
    static let byteCount = 32

    let bytes: [UInt8]

    init() { bytes = SecureRandom.bytes(Self.byteCount) }

    var text: String { Base64URL.encode(bytes) }
    var hash: [UInt8] { Digest.sha256(bytes) }
}
