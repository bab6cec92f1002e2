/// Why Traffic Cop does not let an intent through. Equal to another denial of the same code.
package struct Denial: Error, Sendable, Hashable {
    /// The reasons.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Its kind is unknown, or its fields are not those of its kind.
        case intentUnknown = "intent_unknown"
        /// The contract's kind or fields are not those of the intent.
        case contractMismatch = "contract_mismatch"
        /// The contract is older than it may be.
        case contractExpired = "contract_expired"
        /// The seal was not made by this process.
        case contractForged = "contract_forged"
        /// The contract was used before.
        case contractReplayed = "contract_replayed"
        /// The caller has used up a limit.
        case rateLimited = "rate_limited"
        /// Too many contracts are unused.
        case overloaded
    }

    /// The reason.
    package let code: Code
    /// When it may be worth another try, for the two that pass with time.
    package let retryAfterSeconds: Int?

    package init(_ code: Code, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.retryAfterSeconds = retryAfterSeconds
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
