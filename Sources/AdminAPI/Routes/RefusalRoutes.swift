import Answers
import Encodings
import Runtime

/// The recent refusals of this node, and why one of them was.
enum RefusalRoutes {
    static let all = [
        AdminRoute("GET", "refusals", ["limit", "after"], list),
        AdminRoute("GET", "refusals/{id}", [], why),
    ]

    private static func list(_ call: AdminCall) async throws -> AdminAnswer {
        let node = call.services.node
        return try await call.list("refusals") { after, limit in
            let refusals = await node.refusals()
            // Refusals come in all the time, so a page begins after one of them and not at a number.
            var start = 0
            if let after {
                guard let place = refusals.firstIndex(where: { $0.requestID == after }) else {
                    return AdminPage(entries: [], next: nil)
                }
                start = place + 1
            }
            let page = refusals.dropFirst(start).prefix(limit)
            let isLast = start + page.count >= refusals.count
            return AdminPage(entries: page.map(entry), next: isLast ? nil : page.last?.requestID)
        }
    }

    private static func entry(of refusal: RefusalEntry) -> JSONObject {
        var entry: JSONObject = [
            "time": .string(Timestamp.text(refusal.time)), "request_id": .string(refusal.requestID),
        ]
        for (name, value) in [
            ("client", refusal.client), ("method", refusal.method), ("path", refusal.path), ("route", refusal.route),
        ] {
            if let value { entry[name] = .string(value) }
        }
        if let status = refusal.status { entry["status"] = .integer(Int64(status)) }
        entry["code"] = .string(refusal.code)
        for (name, value) in [("reason", refusal.reason), ("user", refusal.user), ("session", refusal.session)] {
            if let value { entry[name] = .string(value) }
        }
        return entry
    }

    private static func why(_ call: AdminCall) async throws -> AdminAnswer {
        guard let refusal = await call.services.node.refusals().first(where: { $0.requestID == call.pathID }) else {
            throw Problem(
                .notFound, detail: "It is not among the recent refusals of this node: see 'gatehouse audit why'.",
                reason: "no_refusal")
        }
        var entry = entry(of: refusal)
        guard
            let why = await call.services.controls?.explain(
                code: refusal.code, reason: refusal.reason, route: refusal.route)
        else { return .json(entry) }
        entry["check"] = .string(why.check)
        if let key = why.key {
            var place: JSONObject = ["key": .string(key)]
            if let file = why.file { place["file"] = .string(file) }
            if let line = why.line { place["line"] = .integer(line) }
            entry["configuration"] = .object(place)
        }
        return .json(entry)
    }
}
