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
            try page(await node.refusals(), after: after, limit: limit)
        }
    }

    /// Where a page ends. Refusals come in all the time and old ones are dropped, so it is a place in their order: it
    /// holds when the refusal itself is no longer kept.
    private struct Cursor {
        let time: Int64
        let requestID: String

        init(_ refusal: RefusalEntry) { (time, requestID) = (refusal.time, refusal.requestID) }

        init?(_ text: String) {
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let first = parts.first, let last = parts.last, let time = Int64(first),
                RequestIDText.isShaped(last)
            else { return nil }
            (self.time, requestID) = (time, String(last))
        }

        var text: String { "\(time).\(requestID)" }

        func isBefore(_ refusal: RefusalEntry) -> Bool { (refusal.time, refusal.requestID) < (time, requestID) }
    }

    /// The refusals after a cursor.
    ///
    /// - Parameter refusals: all that are kept, newest first.
    static func page(_ refusals: [RefusalEntry], after: String?, limit: Int) throws(Problem) -> AdminPage {
        var rest = refusals[...]
        if let after {
            guard let cursor = Cursor(after) else { throw AdminCall.unknownCursor }
            rest = rest.drop { !cursor.isBefore($0) }
        }
        let page = rest.prefix(limit)
        let next = page.count < rest.count ? page.last.map { Cursor($0).text } : nil
        return AdminPage(entries: page.map(entry), next: next)
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
        guard let why = await call.services.controls?.explain(refusal) else { return .json(entry) }
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
