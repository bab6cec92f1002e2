import AuthorizationServer
import Encodings
import Runtime
import SecurityGuard
import StateSurface

/// The roles of the store that agents' access needs.
package typealias AgentStore = LoginStore & ClientStore & SingleUseStore & GrantStore & PersonalTokenStore
    & CounterStore

/// The settings of the authorization server for agents.
package struct AgentSettings: Sendable {
    /// The issuer, as in `iss`.
    package var issuer: String
    /// All resources.
    package var resources: [ProtectedResource]
    /// The resources that access is granted to here; another server may grant it to the others.
    package var grantable: [ProtectedResource] { resources.filter { $0.isGranted(by: issuer) } }
    /// Whether clients may register themselves.
    package var registration = false
    /// Registrations per hour and address; nil for no limit.
    package var registrationsPerHour: Int64?
    /// How long an unused registration is kept, in milliseconds.
    package var registrationLifetime: Int64 = 86_400_000
    /// Fetches of metadata documents per hour and address; nil for no limit.
    package var fetchesPerHour: Int64?

    package init(issuer: String, resources: [ProtectedResource]) {
        self.issuer = issuer
        self.resources = resources
    }
}

/// The use cases of agents: authorising a client, using a code, listing and ending grants, registering, personal access
/// tokens. Each is one function, independent of HTTP.
///
/// Each writes in one transaction of the store. What is only counted against a limit is counted before, and what was
/// judged before is checked again in the transaction.
///
/// - Authorising: `AgentAccess+authorize.swift`; codes and refresh tokens: `AgentAccess+tokens.swift`.
/// - Grants: `AgentAccess+grants.swift`; clients: `AgentAccess+clients.swift`.
/// - Personal access tokens: `AgentAccess+personalTokens.swift`.
package struct AgentAccess: Sendable {
    /// The settings.
    package let settings: AgentSettings
    let securityGuard: SecurityGuard
    let store: any AgentStore
    let documents: ClientDocuments
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    package init(
        settings: AgentSettings, securityGuard: SecurityGuard, store: any AgentStore,
        fetch: @escaping DocumentFetch, clock: @escaping @Sendable () -> Int64, audit: @escaping AuditSink = { _ in }
    ) {
        self.settings = settings
        self.securityGuard = securityGuard
        self.store = store
        self.documents = ClientDocuments(fetch: fetch, clock: clock)
        self.clock = clock
        self.audit = audit
    }

    /// The resource with this identifier that access is granted to here; nil if there is none.
    package func resource(_ identifier: String) -> ProtectedResource? {
        settings.grantable.first { ResourceIdentifier.areSame($0.identifier, identifier) }
    }
}

/// Why a use case of agents is refused.
package struct AgentAccessFault: Error, Sendable, Equatable {
    /// The kinds of refusal.
    package enum Code: String, Sendable {
        /// A value is malformed or out of bounds.
        case invalidRequest = "invalid_request"
        /// There is no such thing, or it has another owner.
        case notFound = "not_found"
        /// The caller does not have a scope that it asks for.
        case insufficientScope = "insufficient_scope"
        /// The limit per hour and address is reached.
        case rateLimited = "rate_limited"
        /// The consent request is unknown, used, expired or of another session.
        case consentUnknown = "consent_unknown"
    }
    /// The kind of refusal.
    package let code: Code
    /// Fixed text for the client.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// Equality of the codes; details are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
