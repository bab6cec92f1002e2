/// Milliseconds since the Unix epoch, or a duration in milliseconds. All modules exchange times in this form.
package typealias Milliseconds = Int64

/// The stored state of a session. It changes only in the order of the cases, never back.
package enum StoredSessionState: String, Sendable, Hashable {
    case anonymous, authenticated, ended, expired

    /// Whether a session in this state can still be used.
    package var isLive: Bool { self == .anonymous || self == .authenticated }
}

/// A session as it is stored.
package struct SessionRecord: Sendable, Equatable {
    /// The id, `ses_…`. It names the session and is not a credential.
    package var id: String
    /// The state.
    package var state: StoredSessionState
    /// The owner's tenant; nil for an anonymous session.
    package var tenantID: String?
    /// The owner; nil for an anonymous session.
    package var userID: String?
    /// When it was created.
    package var createdAt: Milliseconds
    /// When it was last used. It may be a minute behind.
    package var lastSeenAt: Milliseconds
    /// How long the session may be unused, in milliseconds.
    package var idleTimeout: Milliseconds
    /// When it ends regardless of use.
    package var absoluteExpiresAt: Milliseconds
    /// SHA-256 of the current session secret.
    package var secretHash: [UInt8]
    /// SHA-256 of the previous secret, which may repeat the same upgrade until ``previousSecretUntil``.
    package var previousSecretHash: [UInt8]?
    /// The end of the time in which the previous secret may be used.
    package var previousSecretUntil: Milliseconds?
    /// Increased by every change of privilege. Sockets and tickets of an older epoch are invalid.
    package var epoch: Int64
    /// The refresh family that the session is home or guest of.
    package var familyID: String?
    /// A JSON object of at most 1 KiB.
    package var metadata: String
    /// When it ended or was found expired; nil while it is live.
    package var endedAt: Milliseconds?
    /// The counter for compare-and-set. Every replacement increases it by one.
    package var version: Int64

    package init(
        id: String, state: StoredSessionState, tenantID: String? = nil, userID: String? = nil,
        createdAt: Milliseconds, lastSeenAt: Milliseconds, idleTimeout: Milliseconds,
        absoluteExpiresAt: Milliseconds, secretHash: [UInt8], previousSecretHash: [UInt8]? = nil,
        previousSecretUntil: Milliseconds? = nil, epoch: Int64 = 0, familyID: String? = nil,
        metadata: String = "{}", endedAt: Milliseconds? = nil, version: Int64 = 0
    ) {
        self.id = id
        self.state = state
        self.tenantID = tenantID
        self.userID = userID
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
        self.idleTimeout = idleTimeout
        self.absoluteExpiresAt = absoluteExpiresAt
        self.secretHash = secretHash
        self.previousSecretHash = previousSecretHash
        self.previousSecretUntil = previousSecretUntil
        self.epoch = epoch
        self.familyID = familyID
        self.metadata = metadata
        self.endedAt = endedAt
        self.version = version
    }

    /// When the session expires: the earlier of the idle and the absolute end.
    package var expiresAt: Milliseconds {
        let (idle, overflow) = lastSeenAt.addingReportingOverflow(idleTimeout)
        return overflow ? absoluteExpiresAt : min(idle, absoluteExpiresAt)
    }
}

/// An account. Its e-mail is unique within the tenant, compared by ``emailKey``.
package struct AccountRecord: Sendable, Equatable {
    /// The id, `usr_…`.
    package var userID: String
    /// The tenant.
    package var tenantID: String
    /// The e-mail as it was given; empty if there is none.
    package var email: String
    /// The e-mail in the form in which it is compared: trimmed, with ASCII letters in lower case.
    package var emailKey: String
    /// The password hash as a PHC string; nil for accounts without a password, which sign in through an external
    /// issuer.
    package var passwordHash: String?
    /// The scope that its access tokens may have.
    package var scope: [String]
    /// Whether the account is disabled.
    package var disabled: Bool
    /// When it was created.
    package var createdAt: Milliseconds
    /// The counter for compare-and-set.
    package var version: Int64
    /// Whether the e-mail is verified. It is for accounts that the operator created, and is not for registrations.
    package var emailVerified: Bool
    /// Increased by a new password and by disabling, in the transaction that ends the account's sessions and families.
    /// A record that is created after a check of the account is created only if this value is unchanged.
    package var credentialEpoch: Int64
    /// The name for people, as an identity provider or the operator gave it; nil if there is none.
    package var name: String?
    /// The groups, as the latest sign-in through an identity provider or the operator gave them: at most 100, each of
    /// 1 to 128 bytes without control characters.
    package var groups: [String]

    package init(
        userID: String, tenantID: String, email: String, emailKey: String, passwordHash: String?,
        scope: [String], disabled: Bool = false, createdAt: Milliseconds, version: Int64 = 0,
        emailVerified: Bool = false, credentialEpoch: Int64 = 0, name: String? = nil, groups: [String] = []
    ) {
        self.userID = userID
        self.tenantID = tenantID
        self.email = email
        self.emailKey = emailKey
        self.passwordHash = passwordHash
        self.scope = scope
        self.disabled = disabled
        self.createdAt = createdAt
        self.version = version
        self.emailVerified = emailVerified
        self.credentialEpoch = credentialEpoch
        self.name = name
        self.groups = groups
    }
}

/// An OAuth client. Its secret is random, so it is stored as SHA-256.
package struct ClientRecord: Sendable, Equatable {
    /// The id, `cli_…`.
    package var clientID: String
    /// The tenant it belongs to; empty for a client that belongs to none, because it registered itself.
    package var tenantID: String
    /// The name for people.
    package var name: String
    /// SHA-256 of the secret.
    package var secretHash: [UInt8]
    /// The scope that it may ask for.
    package var scope: [String]
    /// Whether the client is disabled.
    package var disabled: Bool
    /// When it was created.
    package var createdAt: Milliseconds
    /// Where it may receive authorization codes; empty for a client that gets none.
    package var redirectURIs: [String]
    /// Whether it has no secret. ``secretHash`` is then empty.
    package var isPublic: Bool
    /// How it became known: `operator`, `registration` or `document`.
    package var origin: String
    /// When it is forgotten unless it is used before; nil for never.
    package var expiresAt: Milliseconds?

    package init(
        clientID: String, tenantID: String, name: String, secretHash: [UInt8], scope: [String],
        disabled: Bool = false, createdAt: Milliseconds, redirectURIs: [String] = [], isPublic: Bool = false,
        origin: String = "operator", expiresAt: Milliseconds? = nil
    ) {
        self.clientID = clientID
        self.tenantID = tenantID
        self.name = name
        self.secretHash = secretHash
        self.scope = scope
        self.disabled = disabled
        self.createdAt = createdAt
        self.redirectURIs = redirectURIs
        self.isPublic = isPublic
        self.origin = origin
        self.expiresAt = expiresAt
    }
}

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

/// A ticket that was issued and not yet used. Only its hash is stored, so the record gives no access.
package struct TicketRecord: Sendable, Equatable {
    /// SHA-256 of the ticket.
    package var hash: [UInt8]
    /// The session that it opens a socket for.
    package var sessionID: String
    /// The session's epoch when the ticket was issued.
    package var epoch: Int64
    /// Data that the edge gets back when the ticket is used. It contains no token.
    package var facts: [UInt8]
    /// The `Origin` of the request that it was issued for; nil if it is not bound to one.
    package var origin: String?
    /// When it expires.
    package var expiresAt: Milliseconds
    /// The id of the node instance whose clock ``expiresAt`` is in; nil if unknown.
    package var nodeID: String?

    package init(
        hash: [UInt8], sessionID: String, epoch: Int64, facts: [UInt8], origin: String?, expiresAt: Milliseconds,
        nodeID: String? = nil
    ) {
        self.hash = hash
        self.sessionID = sessionID
        self.epoch = epoch
        self.facts = facts
        self.origin = origin
        self.expiresAt = expiresAt
        self.nodeID = nodeID
    }
}

/// An intent in the execution log.
package struct ExecutionRecord: Sendable, Equatable {
    /// The session.
    package var sessionID: String
    /// The intent's id, chosen by the client and unique in the session.
    package var intentID: String
    /// The name of the intent.
    package var intent: String
    /// SHA-256 of the name and parameters with which the id was first used.
    package var fingerprint: [UInt8]
    /// The id of the node instance that runs it.
    package var nodeID: String
    /// The session's epoch when it began.
    package var epoch: Int64
    /// When it began.
    package var createdAt: Milliseconds
    /// The sequence number of its event; nil until it is finished.
    package var seq: Int64?
    /// Its event as a JSON object with `seq`; nil until it is finished, and after it was dropped.
    package var outcome: String?

    package init(
        sessionID: String, intentID: String, intent: String, fingerprint: [UInt8], nodeID: String, epoch: Int64,
        createdAt: Milliseconds, seq: Int64? = nil, outcome: String? = nil
    ) {
        self.sessionID = sessionID
        self.intentID = intentID
        self.intent = intent
        self.fingerprint = fingerprint
        self.nodeID = nodeID
        self.epoch = epoch
        self.createdAt = createdAt
        self.seq = seq
        self.outcome = outcome
    }
}

/// An event of a session's stream.
package struct EventRecord: Sendable, Equatable {
    /// The session.
    package var sessionID: String
    /// The sequence number in the stream, from 1.
    package var seq: Int64
    /// The JSON object as it is sent.
    package var payload: String

    package init(sessionID: String, seq: Int64, payload: String) {
        self.sessionID = sessionID
        self.seq = seq
        self.payload = payload
    }
}

/// A version of an artifact. It belongs to a tenant and user; for others it does not exist.
package struct ArtifactRecord: Sendable, Equatable {
    /// The state of a version. It changes only in the order of the cases.
    package enum State: String, Sendable, Hashable { case draft, active, archived }
    /// The owner's tenant.
    package var tenantID: String
    /// The owner.
    package var userID: String
    /// The name, unique for the owner.
    package var name: String
    /// The version, from 1.
    package var version: Int64
    /// The state of this version.
    package var state: State
    /// The content as JSON text.
    package var content: String
    /// When the version was stored or its state changed.
    package var updatedAt: Milliseconds

    package init(
        tenantID: String, userID: String, name: String, version: Int64, state: State, content: String,
        updatedAt: Milliseconds
    ) {
        self.tenantID = tenantID
        self.userID = userID
        self.name = name
        self.version = version
        self.state = state
        self.content = content
        self.updatedAt = updatedAt
    }
}
