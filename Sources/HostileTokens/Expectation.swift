/// What a correct target does with an attack.
public struct Expectation: Sendable, Equatable {
    /// Whether the request should be accepted. Such cases find verifiers that refuse too much.
    public let isAccepted: Bool
    /// The statuses of a correct refusal; empty if the request should be accepted.
    public let statuses: Set<Int>
    /// Whether closing the connection without an answer is a correct refusal as well.
    public let mayClose: Bool
    /// The expectation in words.
    public let text: String

    /// A refusal with one of these statuses.
    public static func refused(_ statuses: Set<Int>, mayClose: Bool = false, _ text: String) -> Expectation {
        Expectation(isAccepted: false, statuses: statuses, mayClose: mayClose, text: text)
    }

    /// The token is invalid (RFC 6750 section 3.1).
    public static let tokenRefused = refused([401], "401, invalid_token")
    /// There is more than one carrier, or a carrier that is not allowed.
    public static let carrierRefused = refused([400], "400, invalid_request")
    /// What was sent is not a credential.
    public static let credentialRefused = refused([400, 401], "400 or 401")
    /// The token or head is too large. It may be refused before it has arrived completely.
    public static let sizeRefused = refused(
        [400, 401, 413, 414, 431], mayClose: true, "401, 413, 414 or 431, or the connection ended")
    /// The token is valid.
    public static let accepted = Expectation(
        isAccepted: true, statuses: [], mayClose: false, text: "accepted like the good token")
}
