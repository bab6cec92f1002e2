import Answers
import Encodings
import SecurityGuard
import SignIn
import StateSurface

/// What the operator's API stands on.
package struct AdminServices: Sendable {
    /// The version that runs.
    package let version: String
    /// A name for this process among the nodes of a store.
    package let nodeName: String
    /// When the gateway started, in ms since the epoch.
    package let startedAt: Int64
    /// Milliseconds since the Unix epoch.
    package let clock: @Sendable () -> Int64
    /// Judges access tokens, and has the keys.
    package let securityGuard: SecurityGuard
    /// Ends sessions.
    package let signIn: SignInService
    /// Knows what people have granted to clients; by the configuration as it is when it is asked for.
    package let agents: @Sendable () -> AgentAccess
    /// Lists what is stored.
    package let store: any ListingStore
    /// What this node has in memory.
    package let node: any NodeView
    /// The program around the gateway; nil for a library.
    package let controls: (any OperatorControls)?
    /// Writes a line of the audit log.
    package let audit: @Sendable (_ event: String, _ members: JSONObject) -> Void
    /// `errors.explain`, as it is when it is asked for.
    package let explainsErrors: @Sendable () -> Bool

    package init(
        version: String, nodeName: String, startedAt: Int64, clock: @escaping @Sendable () -> Int64,
        securityGuard: SecurityGuard, signIn: SignInService, agents: @escaping @Sendable () -> AgentAccess,
        store: any ListingStore, node: any NodeView, controls: (any OperatorControls)?,
        audit: @escaping @Sendable (_ event: String, _ members: JSONObject) -> Void,
        explainsErrors: @escaping @Sendable () -> Bool
    ) {
        self.version = version
        self.nodeName = nodeName
        self.startedAt = startedAt
        self.clock = clock
        self.securityGuard = securityGuard
        self.signIn = signIn
        self.agents = agents
        self.store = store
        self.node = node
        self.controls = controls
        self.audit = audit
        self.explainsErrors = explainsErrors
    }
}
