/// A session beyond what its user may have.
package struct SurplusSession: Sendable, Equatable {
    package let id: String
    /// The live family that is at home in it; nil for a guest.
    package let homeOf: String?

    package init(id: String, homeOf: String?) {
        self.id = id
        self.homeOf = homeOf
    }
}
