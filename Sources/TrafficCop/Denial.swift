/// Why Traffic Cop does not let an intent through. Equal to another denial of the same code.
package struct Denial: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case intentUnknown = "intent_unknown"
        case contractMismatch = "contract_mismatch"
        case contractExpired = "contract_expired"
        case contractForged = "contract_forged"
        case contractReplayed = "contract_replayed"
        case rateLimited = "rate_limited"
        case overloaded
    }

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
