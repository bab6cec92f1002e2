import AdminAPI
import EdgeConfiguration

/// What the program knows and does for the operator's API.
struct ProcessOperatorControls: OperatorControls {
    let reloader: Reloader
    let level: SharedLogLevel

    func configuration() async -> OperatorConfiguration { OperatorConfiguration(await reloader.loaded) }

    func explain(_ refusal: RefusalEntry) async -> RefusalExplanation {
        let loaded = await reloader.loaded
        let route = RefusalAdvice.route(
            path: refusal.route, host: refusal.routeHost, method: refusal.method, loaded)
        return RefusalAdvice.explain(
            .init(code: refusal.code, reason: refusal.reason ?? "", path: refusal.path ?? ""), route: route, loaded)
    }

    func logLevel() -> LogLevelEntry { level.entry }

    func setLogLevel(_ name: String, seconds: Int64) -> LogLevelEntry? {
        guard let wanted = GatewayConfiguration.Log.Level(rawValue: name) else { return nil }
        level.setTemporarily(wanted, seconds: seconds)
        return level.entry
    }

    func reload() async -> ReloadOutcome { await reloader.reload(because: "the operator's API") }

    func lastReload() async -> ReloadEntry? { await reloader.lastReload }
}
