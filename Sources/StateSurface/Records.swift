/// Milliseconds since the Unix epoch. Every time the rooms exchange is one of these.
package typealias Milliseconds = Int64

/// The lifecycle of a session as it is stored. It only ever moves to the right.
package enum StoredSessionState: String, Sendable, Hashable {
    case anonymous, authenticated, ended, expired

    /// Whether a session in this state can still be used.
    package var isLive: Bool { self == .anonymous || self == .authenticated }
}

/// One session, as it lies in the store. `version` is the compare-and-set counter: every replacement raises it by one.
package struct SessionRecord: Sendable, Equatable {
    /// `ses_…`: an address, never a credential.
    package var id: String
    package var state: StoredSessionState
    package var tenantID: String?
    package var userID: String?
    package var createdAt: Milliseconds
    package var lastSeenAt: Milliseconds
    /// How long the session may lie unused, in milliseconds.
    package var idleTimeout: Milliseconds
    package var absoluteExpiresAt: Milliseconds
    /// SHA-256 of the current session secret.
    package var secretHash: [UInt8]
    /// SHA-256 of the secret before it, which may repeat the very same upgrade until `previousSecretUntil`.
    package var previousSecretHash: [UInt8]?
    package var previousSecretUntil: Milliseconds?
    /// Raised by every change of privilege; whatever carries an older epoch is dead.
    package var epoch: Int64
    /// The refresh family this session is home or guest of; opaque to Runtime.
    package var familyID: String?
    /// One JSON object, at most 1 KiB.
    package var metadata: String
    package var endedAt: Milliseconds?
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

    /// The earlier of the idle and the absolute end.
    package var expiresAt: Milliseconds {
        let (idle, overflow) = lastSeenAt.addingReportingOverflow(idleTimeout)
        return overflow ? absoluteExpiresAt : min(idle, absoluteExpiresAt)
    }
}

/// One account. The e-mail is unique within its tenant, compared by `emailKey`.
package struct AccountRecord: Sendable, Equatable {
    package var userID: String
    package var tenantID: String
    package var email: String
    /// The e-mail as it is compared: trimmed and lower-cased (ASCII).
    package var emailKey: String
    /// PHC string; nil for accounts that only an external issuer vouches for.
    package var passwordHash: String?
    package var scope: [String]
    package var disabled: Bool
    package var createdAt: Milliseconds
    package var version: Int64
    /// Whether the e-mail is vouched for: by the operator who made the account, not by a registration.
    package var emailVerified: Bool
    /// Raised by a new password and by disabling, in the transaction that ends what the account has open. Whatever is
    /// made of a judgement of the account is made only while this is still the same.
    package var credentialEpoch: Int64

    package init(
        userID: String, tenantID: String, email: String, emailKey: String, passwordHash: String?,
        scope: [String], disabled: Bool = false, createdAt: Milliseconds, version: Int64 = 0,
        emailVerified: Bool = false, credentialEpoch: Int64 = 0
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
    }
}

/// A registered OAuth client (`cli_…`). Its secret is random, so a SHA-256 of it is kept.
package struct ClientRecord: Sendable, Equatable {
    package var clientID: String
    package var tenantID: String
    package var name: String
    package var secretHash: [UInt8]
    package var scope: [String]
    package var disabled: Bool
    package var createdAt: Milliseconds

    package init(
        clientID: String, tenantID: String, name: String, secretHash: [UInt8], scope: [String],
        disabled: Bool = false, createdAt: Milliseconds
    ) {
        self.clientID = clientID
        self.tenantID = tenantID
        self.name = name
        self.secretHash = secretHash
        self.scope = scope
        self.disabled = disabled
        self.createdAt = createdAt
    }
}

/// A family of refresh tokens: the chain that one login began.
package struct FamilyRecord: Sendable, Equatable {
    /// The `fid` of its access tokens. Random; derived from nothing.
    package var id: String
    package var tenantID: String
    package var userID: String
    package var clientID: String
    package var scope: [String]
    /// The id of the session that the family is at home in; nil where it has none.
    package var binding: String?
    package var isLive: Bool
    package var createdAt: Milliseconds
    package var absoluteExpiresAt: Milliseconds
    /// SHA-256 of the one refresh token that may be used next; empty where the family has access tokens alone.
    package var currentHash: [UInt8]
    /// SHA-256 of the one before it, and the salt from which (with that token) its successor can be derived again.
    package var previousHash: [UInt8]?
    package var successorSalt: [UInt8]?
    package var rotatedAt: Milliseconds?
    /// Position of the current token in the chain; also the compare-and-set counter.
    package var counter: Int64
    /// The end of the latest access token that a refresh gave out; nil before the first.
    package var tokenExpiresAt: Milliseconds?
    /// The thumbprint of the key that signed that token. A rotation tells it to every node; it is not kept.
    package var tokenKey: String?

    package init(
        id: String, tenantID: String, userID: String, clientID: String, scope: [String], binding: String?,
        isLive: Bool = true, createdAt: Milliseconds, absoluteExpiresAt: Milliseconds, currentHash: [UInt8],
        previousHash: [UInt8]? = nil, successorSalt: [UInt8]? = nil, rotatedAt: Milliseconds? = nil,
        counter: Int64 = 0, tokenExpiresAt: Milliseconds? = nil
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
    }
}

/// A ticket that was bought and not yet used. What it is found by is a hash: nothing here opens anything.
package struct TicketRecord: Sendable, Equatable {
    /// SHA-256 of the ticket.
    package var hash: [UInt8]
    package var sessionID: String
    /// The session's epoch when it was bought.
    package var epoch: Int64
    /// What the edge wants back when it is used; never a token.
    package var facts: [UInt8]
    /// The Origin it was bought from; nil binds none.
    package var origin: String?
    package var expiresAt: Milliseconds
    /// The run of the node by whose clock it expires; nil where that is not known.
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

/// One intent in the execution log. `seq` is nil until it is done.
package struct ExecutionRecord: Sendable, Equatable {
    package var sessionID: String
    /// The client's id of the intent, unique per session.
    package var intentID: String
    package var intent: String
    /// SHA-256 over intent name and parameters: what the id was used for first.
    package var fingerprint: [UInt8]
    /// The node instance that runs it.
    package var nodeID: String
    package var epoch: Int64
    package var createdAt: Milliseconds
    /// The event's sequence number once it is done.
    package var seq: Int64?
    /// The event's JSON (one object, with `seq`), once it is done and for as long as it is kept.
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

/// One event of a session's stream.
package struct EventRecord: Sendable, Equatable {
    package var sessionID: String
    package var seq: Int64
    /// The whole JSON object as it goes over the wire.
    package var payload: String

    package init(sessionID: String, seq: Int64, payload: String) {
        self.sessionID = sessionID
        self.seq = seq
        self.payload = payload
    }
}

/// One version of an artifact. It belongs to (tenant, user): another's is unknown.
package struct ArtifactRecord: Sendable, Equatable {
    package enum State: String, Sendable, Hashable { case draft, active, archived }
    package var tenantID: String
    package var userID: String
    package var name: String
    package var version: Int64
    package var state: State
    /// JSON text.
    package var content: String
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
