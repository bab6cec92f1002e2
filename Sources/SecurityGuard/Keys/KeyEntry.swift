import JOSE

/// One key of the directory, and the times from which its state follows.
///
/// No state is stored: nodes that read the same entries agree on who signs at any moment, without writing.
package struct KeyEntry: Sendable, Equatable {
    package var keyID: String
    /// The file's name inside the directory.
    package var file: String
    package var algorithm: SignatureAlgorithm
    package var publishedAt: Int64
    /// When it signs first. nil: published as a stand-by that signs only after a rotation says so.
    package var firstUseAt: Int64?
    /// When an operator took it out of service.
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

/// What a key does at a moment.
package enum KeyState: String, Sendable {
    /// Published; it signs later, or when a rotation picks it.
    case next
    case active
    /// Signs no more; verifies until the last token it made is dead.
    case retiring
    /// Neither published nor believed.
    case retired

    package var verifies: Bool { self != .retired }
}
