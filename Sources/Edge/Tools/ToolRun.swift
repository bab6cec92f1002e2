import AgentTools
import Runtime

/// A call that is to run.
struct ToolRun: Sendable {
    let call: ToolCall
    let id: RPCID
    /// Under which the Runtime remembers the call in its session.
    let intentID: String
    let permit: Permit
    let era: ToolEra
}
