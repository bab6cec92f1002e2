/// `runtime.*`: where agents run.
public struct RuntimeConfiguration: Sendable, Equatable {
    /// `runtime.url`: `http://…` or `unix:/path` of an external Runtime; nil for the embedded one.
    public var url: String?
    /// `runtime.mcp`: whether the embedded Runtime's intents are offered as tools at `/mcp`.
    public var mcp = false

    /// The embedded Runtime.
    public init() {}
}
