import Libcrypto
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
        self.owns(tenantID: record.tenantID, userID: record.userID)
    }
}

/// The proof with which a caller gets access to a session.
package enum SessionProof: Sendable {
    /// SHA-256 of the current secret.
    case secret(hash: [UInt8])
    /// A verified token of this user.
    case owner(tenantID: String, userID: String)

    static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool { ConstantTime.equal(a, b) }

    func opens(_ record: SessionRecord) -> Bool {
        switch self {
        case .secret(let hash):
            ConstantTime.equal(record.secretHash, hash)
        case .owner(let tenantID, let userID):
            SessionOwner(tenantID: tenantID, userID: userID).owns(record)
        }
    }
}
