/// What the program around the gateway knows and does for its operator. A gateway that is embedded as a library has
/// none.
package protocol OperatorControls: Sendable {
    /// The effective configuration, without secrets.
    func configuration() async -> OperatorConfiguration
    /// Which check a refusal failed, and what of the configuration decides it.
    func explain(_ refusal: RefusalEntry) async -> RefusalExplanation
    /// The level of the log.
    func logLevel() -> LogLevelEntry
    /// Sets the level of the log for a while; nil for a level that there is not.
    func setLogLevel(_ level: String, seconds: Int64) -> LogLevelEntry?
    /// Reads the configuration again.
    func reload() async -> ReloadOutcome
    /// The last reload; nil before the first.
    func lastReload() async -> ReloadEntry?
}
