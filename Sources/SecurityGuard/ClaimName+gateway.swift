import JOSE

/// The further claims of the gateway's tokens.
extension ClaimName {
    package static let tenantID = "tenant_id"
    package static let scope = "scope"
    package static let familyID = "fid"
    package static let session = "session"
    package static let authenticatedAt = "auth_time"
    package static let contextClass = "acr"
    package static let email = "email"
    package static let name = "name"
    package static let groups = "groups"
    package static let groupsOmitted = "groups_omitted"
}
