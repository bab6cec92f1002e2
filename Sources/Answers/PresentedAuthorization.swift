/// How a request used its `Authorization` field: the one form in which the gate, the API and the operator's API have it.
/// Nothing in it has been judged.
package enum PresentedAuthorization: Sendable, Equatable {
    /// There is no such field, or it is `Bearer` without a token.
    case absent
    /// `Bearer` with one token. The token is not empty, and may be of any form.
    case bearer([UInt8])
    /// `Basic`, with what follows the scheme. It is base64 where the client kept to RFC 7617 section 2; that is not
    /// checked here.
    case basic([UInt8])
    /// Another scheme.
    case other

    /// The token of `Bearer` as text; nil for anything else. Bytes that are not UTF-8 are replaced, and no token that is
    /// accepted has the replacement in it.
    package var bearerToken: String? {
        guard case .bearer(let token) = self, !token.isEmpty else { return nil }
        return String(decoding: token, as: UTF8.self)
    }
}
