import Libcrypto
import StateSurface

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
