/// S03: credentials of another kind in place of the token.
enum SwappedAttacks {
    static let all: [Attack] = [
        attack("session-id", "a session id", "ses_AAAAAAAAAAAAAAAAAAAAAA"),
        attack("session-secret", "a session secret", "sec_" + String(repeating: "A", count: 43)),
        attack("refresh-token", "a refresh token", "ref_" + String(repeating: "A", count: 43)),
        attack("ticket", "a ticket", "tkt_" + String(repeating: "A", count: 43)),
        attack("user-id", "a user id", "usr_AAAAAAAAAAAAAAAAAAAAAA"),
        attack("word", "a word", "undefined"), attack("literal", "the word null", "null"),
    ]

    /// A text that is not an access token, sent as one.
    ///
    /// - Parameter text: a credential in the format of Gatehouse that was never issued, or a word that broken clients
    ///   send.
    private static func attack(_ name: String, _ title: String, _ text: String) -> Attack {
        Attack(
            id: "S03-swapped-\(name)", title: "\(title) as bearer token", reference: "RFC 8725 §3.12",
            category: .swapped, expectation: .credentialRefused
        ) { _ in .token(text) }
    }
}
