/// Sessions that were marked as expired, and what ended with those that were homes.
package struct ExpiredSessions: Sendable, Equatable {
    /// A family that ended because its home expired.
    package struct Family: Sendable, Equatable {
        /// The family's id.
        package let id: String
        /// Its guests that ended with it.
        package let sessionIDs: [String]

        /// A family that ended, with these guests.
        package init(id: String, sessionIDs: [String]) {
            self.id = id
            self.sessionIDs = sessionIDs
        }
    }

    /// The most homes that one sweep marks: each takes statements of its own, for its family and its guests, and other
    /// writers wait for their rows meanwhile.
    package static let homePortion = 32

    /// The ids of the sessions that expired.
    package let ids: [String]
    /// The families that were at home in one of them.
    package let families: [Family]

    /// Sessions that expired, with the families that were at home in them.
    package init(ids: [String], families: [Family] = []) {
        self.ids = ids
        self.families = families
    }
}
