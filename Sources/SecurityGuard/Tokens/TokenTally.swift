/// How often tokens were found in a cache, and how the verifications of the others ended.
package struct TokenTally: Sendable, Equatable {
    /// The result of a token that was accepted.
    package static let accepted = "accepted"

    /// Tokens that were verified before.
    package internal(set) var hits = 0
    /// Verifications by result: ``accepted``, or the reason of the refusal.
    package internal(set) var results: [String: Int] = [:]

    package init() {}

    mutating func count(_ verdict: Result<Principal, TokenFault>) {
        switch verdict {
        case .success: results[Self.accepted, default: 0] &+= 1
        case .failure(let fault): results[fault.reason, default: 0] &+= 1
        }
    }
}
