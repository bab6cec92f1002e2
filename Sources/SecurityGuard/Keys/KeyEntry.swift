import JOSE

/// A key of the directory, with the times that determine its state.
///
/// The state is not stored. Nodes that read the same entries derive the same states at any time.
package struct KeyEntry: Sendable, Equatable {
    /// Its `kid`: the thumbprint of RFC 7638.
    package var keyID: String
    /// The name of its file in the directory.
    package var file: String
    /// The one algorithm that it is used with.
    package var algorithm: SignatureAlgorithm
    /// When it appeared in the JWKS, in milliseconds since the epoch, like the other times.
    package var publishedAt: Int64
    /// When it begins to sign; nil for a published key that waits for a rotation.
    package var firstUseAt: Int64?
    /// When an operator retired it; nil if it was not.
    package var retiredAt: Int64?

    package init(
        keyID: String, file: String, algorithm: SignatureAlgorithm, publishedAt: Int64, firstUseAt: Int64? = nil,
        retiredAt: Int64? = nil
    ) {
        self.keyID = keyID
        self.file = file
        self.algorithm = algorithm
        self.publishedAt = publishedAt
        self.firstUseAt = firstUseAt
        self.retiredAt = retiredAt
    }
}

/// The state of a key at a given time.
package enum KeyState: String, Sendable {
    /// Published; it will sign later.
    case next
    /// It signs and verifies.
    case active
    /// It no longer signs, and verifies until the last of its tokens has expired.
    case retiring
    /// It neither signs nor verifies, and is not published.
    case retired

    /// Whether tokens of the key are accepted, and the key is published.
    package var verifies: Bool { self != .retired }
}
