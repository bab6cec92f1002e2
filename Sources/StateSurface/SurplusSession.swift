/// A session over the user's limit.
package struct SurplusSession: Sendable, Equatable {
    /// The session's id.
    package let id: String
    /// The live family whose home it is; nil for a guest.
    package let homeOf: String?

    /// A session over the limit.
    package init(id: String, homeOf: String?) {
        self.id = id
        self.homeOf = homeOf
    }
}
