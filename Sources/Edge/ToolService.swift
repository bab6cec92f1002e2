import AgentTools
import SecurityGuard

/// The embedded Runtime's tools, and how sessions for them are opened.
package struct ToolService: Sendable {
    let server: ToolServer
    /// Opens a session of a caller, and returns its id.
    let open: @Sendable (_ principal: Principal, _ clientAddress: String) async throws -> String

    /// - Parameter open: opens a session of a caller and returns its id. Throws what refuses it, or the store's errors.
    package init(
        server: ToolServer,
        open: @escaping @Sendable (_ principal: Principal, _ clientAddress: String) async throws -> String
    ) {
        self.server = server
        self.open = open
    }
}
