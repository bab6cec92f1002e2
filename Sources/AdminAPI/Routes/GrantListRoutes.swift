import Answers
import Encodings
import Runtime
import SignIn
import StateSurface

/// What people have granted to clients: listing it, and ending it.
enum GrantListRoutes {
    static let all = [
        AdminRoute("GET", "grants", ["user", "limit", "after"], list),
        AdminRoute("DELETE", "grants/{id}", [], end),
    ]

    /// A grant is found by its user, so the user is part of its id here.
    private struct ID {
        let user: String
        let grant: String

        init(user: String, grant: String) {
            self.user = user
            self.grant = grant
        }

        init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let user = parts.first, let grant = parts.last, !user.isEmpty else { return nil }
            self.init(user: String(user), grant: String(grant))
        }

        var text: String { "\(user).\(grant)" }
    }

    private static func list(_ call: AdminCall) async throws -> AdminAnswer {
        let (user, services) = (call.query["user"], call.services)
        return try await call.list("grants") { after, limit in
            var start: ID?
            if let after {
                guard let id = ID(after) else { throw AdminCall.unknownCursor }
                start = id
            }
            return try await page(services, only: user, after: start, limit: limit)
        }
    }

    private static func page(
        _ services: AdminServices, only user: String?, after: ID?, limit: Int
    ) async throws -> AdminPage {
        let agents = services.agents()
        var users = [after?.user ?? user].compactMap(\.self)
        if user == nil { users += try await services.store.grantingUsers(after: after?.user ?? "", limit: limit + 1) }
        var entries: [JSONObject] = []
        var last: ID?
        for user in users {
            let grants = try await agents.grants(userID: user).sorted { $0.id < $1.id }
            for grant in grants {
                if let after, after.user == user, grant.id <= after.grant { continue }
                if entries.count == limit { return AdminPage(entries: entries, next: last?.text) }
                let id = ID(user: user, grant: grant.id)
                entries.append(entry(of: grant, id))
                last = id
            }
        }
        // With so many users, some without a grant that was used, there may be more behind them.
        let isFull = user == nil && users.count > limit
        return AdminPage(
            entries: entries, next: isFull ? users.last.map { ID(user: $0, grant: "~").text } : nil)
    }

    private static func entry(of grant: Grant, _ id: ID) -> JSONObject {
        [
            "id": .string(id.text), "user_id": .string(id.user), "client_id": .string(grant.clientID),
            "client_name": .string(grant.clientName), "resource": .string(grant.resource),
            "scopes": .array(grant.scopes.map(JSONValue.string)),
            "created_at": .string(Timestamp.text(grant.createdAt)),
            "last_used_at": .string(Timestamp.text(grant.lastUsedAt)),
        ]
    }

    private static func end(_ call: AdminCall) async throws -> AdminAnswer {
        guard let id = ID(call.pathID) else {
            throw Problem(.notFound, detail: "There is no such grant.", reason: "no_grant")
        }
        try await call.services.agents().endGrant(id: id.grant, userID: id.user, tenantID: nil)
        await call.services.node.settled()
        return .noContent
    }
}
