/// A family of refresh tokens: the tokens that descend from one login by rotation.
package struct FamilyRecord: Sendable, Equatable {
    /// The `fid` of its access tokens: random, and for users followed by a dot and the version of the account.
    package var id: String
    /// The owner's tenant.
    package var tenantID: String
    /// The owner.
    package var userID: String
    /// The client it was opened for; `gatehouse` for logins.
    package var clientID: String
    /// The scope of its access tokens.
    package var scope: [String]
    /// The id of its home session; nil if it has none.
    package var binding: String?
    /// Whether the family can still be used.
    package var isLive: Bool
    /// When it was created.
    package var createdAt: Milliseconds
    /// When it ends regardless of use.
    package var absoluteExpiresAt: Milliseconds
    /// SHA-256 of the current refresh token; empty if the family has only access tokens.
    package var currentHash: [UInt8]
    /// SHA-256 of the previous refresh token.
    package var previousHash: [UInt8]?
    /// The salt from which the current token can be derived again, together with the previous token.
    package var successorSalt: [UInt8]?
    /// When the current token replaced the previous one.
    package var rotatedAt: Milliseconds?
    /// The position of the current token in the chain. It is also the counter for compare-and-set.
    package var counter: Int64
    /// When the latest access token issued by a refresh expires; nil before the first refresh.
    package var tokenExpiresAt: Milliseconds?
    /// The thumbprint of the key that signed that token. A rotation reports it to all nodes; it is not stored.
    package var tokenKey: String?
    /// How its owner signed in; nil for families without a sign-in, and for those of older versions.
    package var signIn: SignInFacts?
    /// The resource that its access tokens are for (RFC 8707); nil for the gateway's own audience.
    package var resource: String?

    /// By default a live family that was not refreshed yet, for the gateway's own audience.
    package init(
        id: String, tenantID: String, userID: String, clientID: String, scope: [String], binding: String?,
        isLive: Bool = true, createdAt: Milliseconds, absoluteExpiresAt: Milliseconds, currentHash: [UInt8],
        previousHash: [UInt8]? = nil, successorSalt: [UInt8]? = nil, rotatedAt: Milliseconds? = nil,
        counter: Int64 = 0, tokenExpiresAt: Milliseconds? = nil, signIn: SignInFacts? = nil, resource: String? = nil
    ) {
        self.id = id
        self.tenantID = tenantID
        self.userID = userID
        self.clientID = clientID
        self.scope = scope
        self.binding = binding
        self.isLive = isLive
        self.createdAt = createdAt
        self.absoluteExpiresAt = absoluteExpiresAt
        self.currentHash = currentHash
        self.previousHash = previousHash
        self.successorSalt = successorSalt
        self.rotatedAt = rotatedAt
        self.counter = counter
        self.tokenExpiresAt = tokenExpiresAt
        self.signIn = signIn
        self.resource = resource
    }
}
