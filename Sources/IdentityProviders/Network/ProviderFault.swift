import JOSE

/// What is wrong with a provider, or with what it said.
package struct ProviderFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reasons, under names that do not change; for logs and metrics, never for the answer to a caller.
    package enum Reason: String, Sendable, CaseIterable {
        // On the way.
        case unreachable
        case timedOut = "timed_out"
        case addressRefused = "address_refused"
        case tooLarge = "too_large"
        // Any answer.
        case statusUnexpected = "status_unexpected"
        case contentTypeUnexpected = "content_type_unexpected"
        case malformed
        // Discovery.
        case issuerMismatch = "issuer_mismatch"
        case endpointMissing = "endpoint_missing"
        case endpointRefused = "endpoint_refused"
        case algorithmsRefused = "algorithms_refused"
        case pkceUnsupported = "pkce_unsupported"
        case codeFlowUnsupported = "code_flow_unsupported"
        case keySetRefused = "key_set_refused"
        // The authorization response.
        case responseRepeated = "response_repeated"
        case responseIncomplete = "response_incomplete"
        case responseIssuerMissing = "response_issuer_missing"
        case responseIssuerMismatch = "response_issuer_mismatch"
        case authorizationFailed = "authorization_failed"
        // The token response.
        case codeRefused = "code_refused"
        case clientRefused = "client_refused"
        case tokenTypeUnsupported = "token_type_unsupported"
        case accessTokenMissing = "access_token_missing"
        case idTokenMissing = "id_token_missing"
        case idTokenRefused = "id_token_refused"
        // Who it is.
        case userInfoSubjectMismatch = "userinfo_subject_mismatch"
        // Ours.
        case clientKeyUnusable = "client_key_unusable"
        case outOfOrder = "out_of_order"
    }

    /// The reason.
    package let reason: Reason
    /// Why a token was refused, where one was.
    package let tokenRefusal: TokenRefusal?
    /// One sentence for the operator; never a part of what the provider sent.
    package let detail: String

    /// - Parameter detail: one sentence for the operator, with nothing that the provider sent.
    package init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
        tokenRefusal = nil
    }

    /// An ID token that is refused.
    package init(_ refusal: TokenRefusal) {
        reason = .idTokenRefused
        tokenRefusal = refusal
        detail = refusal.detail
    }

    /// The name for logs: the token's own reason says more than that it was refused.
    package var label: String { tokenRefusal?.reason.rawValue ?? reason.rawValue }

    /// Label and sentence.
    package var description: String { "\(label): \(detail)" }

    /// Equality of the reasons.
    package static func == (left: Self, right: Self) -> Bool {
        left.reason == right.reason && left.tokenRefusal == right.tokenRefusal
    }
}
