import Encodings
import Runtime

/// `GET /api/admin/overview`: this node at a glance.
enum OverviewRoutes {
    static let all = [AdminRoute("GET", "overview", [], overview)]

    private static func overview(_ call: AdminCall) async throws -> AdminAnswer {
        let services = call.services
        let now = services.clock()
        let counts = await services.node.counts()
        let store = services.node.store()
        let upstreams = await services.node.upstreams()
        let reload = await services.controls?.lastReload()
        return .json([
            "version": .string(services.version), "node": .string(services.nodeName),
            "started_at": .string(Timestamp.text(services.startedAt)),
            "uptime_seconds": .integer(max(0, now &- services.startedAt) / 1_000),
            "ready": .bool(services.node.isReady()),
            "store": [
                "kind": .string(store.kind), "reachable": .bool(store.isReachable),
                "feed_age_seconds": JSONNumber(store.feedAge).map(JSONValue.number) ?? .null,
            ],
            "sockets": .integer(Int64(counts.sockets)), "leases": .integer(Int64(counts.leases)),
            "upstreams_down": .integer(Int64(upstreams.count { !$0.isUp })),
            "recent_refusals": .integer(Int64(await services.node.refusals().count)),
            "reloads": [
                "last_at": reload.map { .string(Timestamp.text($0.at)) } ?? .null,
                "last_result": reload.map { .string($0.outcome.text) } ?? .null,
            ],
        ])
    }
}
