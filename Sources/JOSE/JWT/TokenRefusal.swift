import Encodings

/// Why a token is refused.
///
/// Verification returns it as a value, because refusing a token is an expected result and no failure.
public struct TokenRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reasons. Their names are stable across versions. They are meant for logs and tools, not for the response to
    /// a client.
    public enum Reason: String, Sendable, CaseIterable {
        /// Not three base64url segments, or a header or payload that is not one strict JSON object.
        case malformed
        /// Longer than the limit.
        case tooLarge = "too_large"
        /// The header has `crit` or `b64`: it demands an extension, and none is supported.
        case criticalHeader = "critical_header"
        /// An `alg` that is not in ``SignatureAlgorithm``, such as `none`.
        case algorithmNotAllowed = "algorithm_not_allowed"
        /// An `alg` other than that of the key.
        case algorithmMismatch = "algorithm_mismatch"
        /// No key with this `kid`, or no `kid` and several keys.
        case keyUnknown = "key_unknown"
        /// The signature does not verify with the key.
        case signatureInvalid = "signature_invalid"
        /// A `typ` that is not accepted, or a nested token.
        case typeMismatch = "type_mismatch"
        /// An `iss` other than the required one.
        case issuerMismatch = "issuer_mismatch"
        /// An `aud` that names none of the accepted audiences.
        case audienceMismatch = "audience_mismatch"
        /// A `sub` other than the required one.
        case subjectMismatch = "subject_mismatch"
        /// A required claim is missing.
        case claimMissing = "claim_missing"
        /// A claim of the wrong type or with an impossible value.
        case claimInvalid = "claim_invalid"
        /// `nbf` is in the future.
        case notYetValid = "not_yet_valid"
        /// `iat` is in the future.
        case issuedInFuture = "issued_in_future"
        /// The time from `iat` to `exp` is longer than allowed.
        case lifetimeExceeded = "lifetime_exceeded"
        /// `exp` has passed, and everything else is in order.
        case expired
    }

    /// The reason.
    public let reason: Reason
    private let explanation: Explanation

    /// What ``detail`` is made from. The string is made only when it is read, so that refusing a token is cheap.
    private enum Explanation: Sendable {
        case sentence(String)
        case limit(Int)
        case json(part: StaticString, JSONError)
    }

    /// One sentence for the operator. It quotes no value of the token.
    public var detail: String {
        switch explanation {
        case .sentence(let text): text
        case .limit(let bytes): "the token is longer than \(bytes) bytes"
        case .json(let part, let error): "the \(part) is not one strict JSON object: \(error)"
        }
    }

    /// A refusal with a reason and a sentence, which must not quote the token.
    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        explanation = .sentence(detail)
    }

    /// The refusal of a token that is longer than `bytes`.
    init(moreThan bytes: Int) {
        reason = .tooLarge
        explanation = .limit(bytes)
    }

    /// The refusal of a header or payload that is not strict JSON.
    init(_ part: StaticString, _ error: JSONError) {
        reason = .malformed
        explanation = .json(part: part, error)
    }

    /// Reason and detail.
    public var description: String { "\(reason.rawValue): \(detail)" }

    /// Equality of the reasons; details are not compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.reason == right.reason
    }
}
