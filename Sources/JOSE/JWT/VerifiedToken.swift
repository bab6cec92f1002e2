/// A token whose signature and claims were verified. Only ``UnverifiedToken/verify(with:rules:now:)`` makes one.
public struct VerifiedToken: Sendable {
    /// The header.
    public let header: ProtectedHeader
    /// The claims.
    public let claims: Claims
    /// The `kid` of the key that verified it.
    public let keyID: String

    init(header: ProtectedHeader, claims: Claims, keyID: String) {
        self.header = header
        self.claims = claims
        self.keyID = keyID
    }
}
