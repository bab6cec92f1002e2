import SecurityGuard

/// The kind of credential or id that a value looks like, recognised by its form before any lookup.
///
/// The kinds are disjoint by prefix; a value that looks like one kind and is sent as another is answered
/// `credentials_swapped`. A shape says nothing about validity: `tkt_` followed by anything is a ``ticket``.
package enum CredentialShape: Sendable, Equatable {
    /// An ``accessToken`` is a compact JWS (RFC 7515 section 7.1); `ses_`, `sec_`, `ref_`, `tkt_` and `pat_` begin the
    /// others. A ``personalToken`` is taken where access tokens are. A ``subject`` is the id of a user (`usr_`) or a
    /// client (`cli_`), which is no credential. Everything else, the empty text among it, is ``other`` and counts as
    /// swapped nowhere.
    case accessToken, sessionID, sessionSecret, refreshToken, ticket, personalToken, subject, other

    /// Tells the kind from the first bytes, and that of a JWS from its dots.
    package init(_ value: some Collection<UInt8>) {
        self =
            value.withContiguousStorageIfAvailable(Self.init(bytes:))
            ?? Array(value).withUnsafeBufferPointer(Self.init(bytes:))
    }

    /// Not generic: a generic function is not specialised in another module, and each byte of a token would cost a call
    /// or two. The gate looks at every token so.
    private init(bytes: UnsafeBufferPointer<UInt8>) {
        if bytes.starts(with: Self.sessionIDPrefix) {
            self = .sessionID
        } else if bytes.starts(with: Self.sessionSecretPrefix) {
            self = .sessionSecret
        } else if bytes.starts(with: Self.refreshTokenPrefix) {
            self = .refreshToken
        } else if bytes.starts(with: Self.ticketPrefix) {
            self = .ticket
        } else if Self.looksLikeCompactJWS(bytes) {
            self = .accessToken
        } else if bytes.starts(with: Self.userPrefix) || bytes.starts(with: Self.clientPrefix) {
            self = .subject
        } else if bytes.starts(with: Self.personalTokenPrefix) {
            self = .personalToken
        } else {
            self = .other
        }
    }

    /// Whether a value of this form was sent in a carrier for another kind. False for ``other``, and for a personal
    /// access token in the place of an access token: such a value is left to the check of its carrier, which refuses it
    /// like any wrong one where it does not take it.
    package func isSwapped(from expected: CredentialShape) -> Bool {
        switch self {
        case expected, .other: false
        case .personalToken: expected != .accessToken
        case .accessToken, .sessionID, .sessionSecret, .refreshToken, .ticket, .subject: true
        }
    }

    private static let sessionIDPrefix = CredentialPrefix.sessionID.bytes
    private static let sessionSecretPrefix = CredentialPrefix.sessionSecret.bytes
    private static let refreshTokenPrefix = CredentialPrefix.refreshToken.bytes
    private static let ticketPrefix = CredentialPrefix.ticket.bytes
    private static let tokenPrefix = Array("ey".utf8)
    private static let userPrefix = Array(Prefix.user.utf8)
    private static let personalTokenPrefix = CredentialPrefix.personalToken.bytes
    private static let clientPrefix = Array(Prefix.client.utf8)

    /// Whether the value has three segments of which the first begins like base64url of `{"`.
    private static func looksLikeCompactJWS(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.starts(with: Self.tokenPrefix) else { return false }
        // Without an early exit, so that the compiler can vectorise the loop.
        var dots: UInt32 = 0
        for byte in bytes { dots &+= byte == UInt8(ascii: ".") ? 1 : 0 }
        return dots == 2
    }
}
