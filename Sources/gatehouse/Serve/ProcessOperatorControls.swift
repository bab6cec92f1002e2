import AdminAPI
import EdgeConfiguration

/// What the program knows and does for the operator's API.
struct ProcessOperatorControls: OperatorControls {
    let reloader: Reloader
    let level: SharedLogLevel

    /// The configuration in force, with the origin of each value.
    func configuration() async -> OperatorConfiguration { OperatorConfiguration(await reloader.loaded) }

    /// Which check refused the request, and the line of the configuration that decided.
    func explain(_ refusal: RefusalEntry) async -> RefusalExplanation {
        let loaded = await reloader.loaded
        let route = RefusalAdvice.route(
            path: refusal.route, host: refusal.routeHost, method: refusal.method, loaded)
        return RefusalAdvice.explain(
            .init(code: refusal.code, reason: refusal.reason ?? "", path: refusal.path ?? ""), route: route, loaded)
    }

    /// The level in force, and until when if it is temporary.
    func logLevel() -> LogLevelEntry { level.entry }

    /// Changes the level for so many seconds; nil for a name that is no level.
    func setLogLevel(_ name: String, seconds: Int64) -> LogLevelEntry? {
        guard let wanted = GatewayConfiguration.Log.Level(rawValue: name) else { return nil }
        level.setTemporarily(wanted, seconds: seconds)
        return level.entry
    }

    /// Does what SIGHUP does.
    func reload() async -> ReloadOutcome { await reloader.reload(because: "the operator's API") }

    /// The latest reload and its outcome; nil if there was none.
    func lastReload() async -> ReloadEntry? { await reloader.lastReload }
}
