import Encodings
import JOSE
import OAuth
import StateSurface

/// Which tokens a client may inspect (RFC 7662) and revoke (RFC 7009).
enum ClientRights {
    /// A client may inspect the tokens of its own tenant.
    static func mayInspect(_ principal: Principal, _ client: ClientRecord) -> Bool {
        sameBytes(principal.tenantID, client.tenantID)
    }

    /// A client may revoke its own tokens, and its tenant's tokens of password logins, which anyone who has them can
    /// also end by logging out. It may not revoke those of another client.
    static func mayEnd(tokenOf clientID: String, tenantID: String, _ client: ClientRecord) -> Bool {
        // A client without a secret proves nothing but that it has the token.
        if client.isPublic { return sameBytes(clientID, client.clientID) }
        return sameBytes(tenantID, client.tenantID)
            && (sameBytes(clientID, client.clientID) || sameBytes(clientID, firstPartyClientID))
    }
}

enum Introspection {
    static let inactive: JSONObject = ["active": .bool(false)]

    static func active(_ principal: Principal, policy: TokenPolicy) -> JSONObject {
        var answer: JSONObject = [
            "active": .bool(true),
            "token_type": "Bearer",
            ClaimName.issuer: .string(policy.issuer),
            ClaimName.subject: .string(principal.subject),
            ClaimName.audience: principal.resource.map(JSONValue.string)
                ?? .array(policy.audience.map(JSONValue.string)),
            ClaimName.clientID: .string(principal.clientID),
            ClaimName.tenantID: .string(principal.tenantID),
            ClaimName.scope: .string(Scope.text(principal.scope)),
            ClaimName.expiresAt: .integer(principal.expiresAt / 1000),
            ClaimName.issuedAt: .integer(principal.issuedAt / 1000),
            ClaimName.tokenID: .string(principal.tokenID),
        ]
        if let family = principal.familyID { answer[ClaimName.familyID] = .string(family) }
        return answer
    }

    static func active(_ family: FamilyRecord, policy: TokenPolicy) -> JSONObject {
        var answer: JSONObject = [
            "active": .bool(true),
            "token_type": "refresh_token",
            ClaimName.issuer: .string(policy.issuer),
            ClaimName.subject: .string(family.userID),
            ClaimName.clientID: .string(family.clientID),
            ClaimName.tenantID: .string(family.tenantID),
            ClaimName.scope: .string(Scope.text(family.scope)),
            ClaimName.expiresAt: .integer(family.absoluteExpiresAt / 1000),
            ClaimName.issuedAt: .integer(family.createdAt / 1000),
        ]
        if let resource = family.resource { answer[ClaimName.audience] = .string(resource) }
        return answer
    }
}
