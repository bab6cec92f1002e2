import StateSurface

/// The owner of a session: a user of a tenant.
package struct SessionOwner: Sendable, Hashable {
    /// The tenant.
    package let tenantID: String
    /// The user.
    package let userID: String

    package init(tenantID: String, userID: String) {
        self.tenantID = tenantID
        self.userID = userID
    }

    /// Whether this is the owner, compared byte for byte.
    func owns(tenantID: String?, userID: String?) -> Bool {
        guard let tenantID, let userID else { return false }
        return tenantID.hasSameBytes(as: self.tenantID) && userID.hasSameBytes(as: self.userID)
    }

    func owns(_ record: SessionRecord) -> Bool {
        owns(tenantID: record.tenantID, userID: record.userID)
    }
}
