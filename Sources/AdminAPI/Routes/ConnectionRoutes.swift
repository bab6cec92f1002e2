import Answers
import Encodings
import Runtime

/// The sockets and streams of this node: listing them, and ending one.
enum ConnectionRoutes {
    static let all = [
        AdminRoute("GET", "connections", ["kind", "user", "limit", "after"], list),
        AdminRoute("DELETE", "connections/{id}", [], end),
    ]

    private static func list(_ call: AdminCall) async throws -> AdminAnswer {
        var kind: OpenConnection.Kind?
        if let text = call.query["kind"] {
            kind = OpenConnection.Kind(rawValue: text)
            guard kind != nil else {
                throw Problem(.invalidRequest, detail: "'kind' is 'socket', 'relay' or 'stream'.", reason: "kind")
            }
        }
        let (user, node) = (call.query["user"], call.services.node)
        return try await call.list("connections") { [kind] after, limit in
            if let after, !RequestIDText.isShaped(after) { throw AdminCall.unknownCursor }
            return await page(of: node, kind, user: user, after: after, limit: limit)
        }
    }

    private static func page(
        of node: any NodeView, _ kind: OpenConnection.Kind?, user: String?, after: String?, limit: Int
    ) async -> AdminPage {
        var (found, cursor): ([OpenConnection], String?) = ([], after)
        while true {
            let connections = await node.connections(after: cursor, limit: limit)
            let isLast = connections.count < limit
            for connection in connections {
                cursor = connection.id
                if let kind, connection.kind != kind { continue }
                if let user, connection.userID?.utf8.elementsEqual(user.utf8) != true { continue }
                found.append(connection)
                if found.count == limit { break }
            }
            if found.count == limit || isLast {
                let isEnd = isLast && cursor == connections.last?.id || connections.isEmpty
                return AdminPage(entries: found.map(entry), next: isEnd ? nil : cursor)
            }
        }
    }

    private static func entry(of connection: OpenConnection) -> JSONObject {
        var entry: JSONObject = [
            "id": .string(connection.id), "kind": .string(connection.kind.rawValue),
            "route": .string(connection.route),
        ]
        for (name, value) in [
            ("session", connection.session), ("user_id", connection.userID), ("tenant_id", connection.tenantID),
            ("client_id", connection.clientID), ("client", connection.client),
        ] {
            if let value { entry[name] = .string(value) }
        }
        entry["since"] = .string(Timestamp.text(connection.since))
        if let end = connection.endsAt, end != .max { entry["ends_at"] = .string(Timestamp.text(end)) }
        return entry
    }

    private static func end(_ call: AdminCall) async throws -> AdminAnswer {
        guard await call.services.node.end(connection: call.pathID) else {
            throw Problem(.notFound, detail: "There is no such connection on this node.", reason: "no_connection")
        }
        call.record("connection.ended", ["connection": .string(call.pathID)])
        return .noContent
    }
}
