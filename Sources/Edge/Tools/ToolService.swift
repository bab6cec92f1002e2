import AgentTools
import SignIn

/// The embedded Runtime's tools, and the use cases by which sessions for them begin and end.
package struct ToolService: Sendable {
    let server: ToolServer
    let signIn: SignInService

    /// - Parameter signIn: opens the sessions of callers, as those of every token are opened, and ends them.
    package init(server: ToolServer, signIn: SignInService) {
        self.server = server
        self.signIn = signIn
    }
}
