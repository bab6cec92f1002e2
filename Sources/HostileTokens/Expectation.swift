/// What a good target does with an attack.
public struct Expectation: Sendable, Equatable {
    /// Whether the request is to pass: a verifier that refuses everything is no good either.
    public let isAccepted: Bool
    /// The statuses of a right refusal; empty if it is to pass.
    public let statuses: Set<Int>
    /// Whether ending the connection without an answer is a right refusal, too.
    public let mayClose: Bool
    /// The same in words.
    public let text: String

    /// A refusal with one of these statuses.
    public static func refused(_ statuses: Set<Int>, mayClose: Bool = false, _ text: String) -> Expectation {
        Expectation(isAccepted: false, statuses: statuses, mayClose: mayClose, text: text)
    }

    /// The token is a bad one (RFC 6750 §3.1).
    public static let tokenRefused = refused([401], "401, invalid_token")
    /// More than one carrier, or one in a place that is not allowed.
    public static let carrierRefused = refused([400], "400, invalid_request")
    /// Not a credential at all.
    public static let credentialRefused = refused([400, 401], "400 or 401")
    /// Too much; the sooner it is seen, the better.
    public static let sizeRefused = refused(
        [400, 401, 413, 414, 431], mayClose: true, "401, 413, 414 or 431, or the connection ended")
    /// Nothing is wrong with it.
    public static let accepted = Expectation(
        isAccepted: true, statuses: [], mayClose: false, text: "accepted like the good token")
}
