import Encodings

/// Why a token is refused. A value, not a failure: refusing is what a verifier is for.
public struct TokenRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reasons, under names that do not change; for logs and tools, not for the answer to a caller.
    public enum Reason: String, Sendable, CaseIterable {
        /// Not three base64url segments, or a header or payload that is not one strict JSON object.
        case malformed
        /// Longer than the limit.
        case tooLarge = "too_large"
        /// `crit` or `b64`: extensions that are not understood here, none being.
        case criticalHeader = "critical_header"
        /// An `alg` that does not exist here, `none` included.
        case algorithmNotAllowed = "algorithm_not_allowed"
        /// An `alg` other than the key's.
        case algorithmMismatch = "algorithm_mismatch"
        /// No key for this `kid`.
        case keyUnknown = "key_unknown"
        /// The signature is not the key's.
        case signatureInvalid = "signature_invalid"
        /// Another kind of token than the one wanted.
        case typeMismatch = "type_mismatch"
        /// Another issuer.
        case issuerMismatch = "issuer_mismatch"
        /// Not for us.
        case audienceMismatch = "audience_mismatch"
        /// Another subject.
        case subjectMismatch = "subject_mismatch"
        /// A required claim is not there.
        case claimMissing = "claim_missing"
        /// A claim of the wrong type or with an impossible value.
        case claimInvalid = "claim_invalid"
        /// `nbf` is still to come.
        case notYetValid = "not_yet_valid"
        /// `iat` is still to come.
        case issuedInFuture = "issued_in_future"
        /// Longer valid than allowed.
        case lifetimeExceeded = "lifetime_exceeded"
        /// Past `exp`, and everything else is good.
        case expired
    }

    /// The reason.
    public let reason: Reason
    private let explanation: Explanation

    /// What the sentence is made of; made only when somebody reads it, because refusing has to be quick.
    private enum Explanation: Sendable {
        case sentence(String)
        case limit(Int)
        case json(part: StaticString, JSONError)
    }

    /// One sentence for the operator; never a part of the token.
    public var detail: String {
        switch explanation {
        case .sentence(let text): text
        case .limit(let bytes): "the token is longer than \(bytes) bytes"
        case .json(let part, let error): "the \(part) is not one strict JSON object: \(error)"
        }
    }

    /// A refusal for a reason.
    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        explanation = .sentence(detail)
    }

    /// A token of more bytes than allowed.
    init(moreThan bytes: Int) {
        reason = .tooLarge
        explanation = .limit(bytes)
    }

    /// A part that should be JSON.
    init(_ part: StaticString, _ error: JSONError) {
        reason = .malformed
        explanation = .json(part: part, error)
    }

    /// Reason and detail.
    public var description: String { "\(reason.rawValue): \(detail)" }

    /// Equality of the reasons.
    public static func == (left: Self, right: Self) -> Bool {
        left.reason == right.reason
    }
}
