import EdgeConfiguration
import Testing

@testable import gatehouse

@Suite("What a reload changes") struct ReloadPlanTests {
    @Test("Every key that is said to take effect without a restart exists")
    func keysExist() {
        #expect(ReloadPlan.reloadable.subtracting(GatewaySettings.all.map(\.key)).isEmpty)
    }

    @Test("Every key can be kept")
    func keepers() {
        #expect(GatewaySettings.all.allSatisfy { $0.keep != nil })
    }

    @Test("What needs a restart here is what a gateway in another program refuses to change")
    func sameKeys() {
        var needRestart = Set(GatewaySettings.all.map(\.key)).subtracting(ReloadPlan.reloadable)
        // A file holds the value of `state.url`.
        needRestart.remove("state.url_file")
        // No single key of the file: a list of entries, what no file holds, and TLS, which all its keys switch on.
        needRestart.formUnion(["events", "keys.passphrase", "server.tls"])
        #expect(Set(GatewayConfiguration.startKeys) == needRestart)
        #expect(throws: Never.self) { try GatewayConfiguration().checkStartKeys(as: GatewayConfiguration()) }
    }

    @Test("Keys that need a restart keep their value and are named; the others change")
    func keeps() {
        var running = GatewayConfiguration()
        running.server.listen = ListenAddress(host: "127.0.0.1", port: 1)
        running.state.url = "postgres://u:old@db/x"
        var wanted = running
        wanted.server.listen = ListenAddress(host: "127.0.0.1", port: 2)
        wanted.state.url = "postgres://u:new@db/x"
        wanted.limits.loginPerMinute = 3
        wanted.routes = [RouteConfiguration(path: "/a")]
        let plan = ReloadPlan(running: running, wanted: wanted)
        #expect(plan.needRestart == ["server.listen", "state.url"])
        #expect(plan.configuration.server.listen.port == 1 && plan.configuration.state.url == running.state.url)
        #expect(plan.configuration.limits.loginPerMinute == 3 && plan.configuration.routes.count == 1)
    }

    @Test("Another certificate is taken over; TLS is neither switched on nor off")
    func certificates() {
        var running = GatewayConfiguration()
        running.server.tls = .init(certificate: "a", key: "b")
        var wanted = running
        wanted.server.tls = .init(certificate: "c", key: "d")
        let changed = ReloadPlan(running: running, wanted: wanted)
        #expect(changed.configuration.server.tls == wanted.server.tls && changed.needRestart.isEmpty)
        wanted.server.tls = nil
        let off = ReloadPlan(running: running, wanted: wanted)
        #expect(off.configuration.server.tls == running.server.tls)
        #expect(off.needRestart == ["server.tls.certificate", "server.tls.key"])
    }
}
