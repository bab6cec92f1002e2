import Answers
import Encodings
import Runtime
import SignIn
import StateSurface

/// Sessions: listing them, and ending one.
enum SessionListRoutes {
    static let all = [
        AdminRoute("GET", "sessions", ["user", "tenant", "state", "limit", "after"], list),
        AdminRoute("DELETE", "sessions/{id}", [], end),
    ]

    /// So many sessions are looked at for one page of a filtered list. A page may then have fewer entries than it
    /// could, and still a cursor.
    private static let mostRead = 20_000

    private struct Filter: Sendable {
        var user: String?
        var tenant: String?
        var state: StoredSessionState?

        func takes(_ session: SessionListing) -> Bool {
            if let tenant, session.tenantID?.utf8.elementsEqual(tenant.utf8) != true { return false }
            return state == nil || session.state == state
        }
    }

    private static func list(_ call: AdminCall) async throws -> AdminAnswer {
        var filter = Filter(user: call.query["user"], tenant: call.query["tenant"])
        if let text = call.query["state"] {
            guard let state = StoredSessionState(rawValue: text), state.isLive else {
                throw Problem(
                    .invalidRequest, detail: "'state' is 'anonymous' or 'authenticated'.", reason: "state")
            }
            filter.state = state
        }
        return try await call.list("sessions") { [filter, services = call.services] after, limit in
            if let after, !SessionID.isShaped(after.utf8) { throw AdminCall.unknownCursor }
            return try await page(filter, services, after: after, limit: limit)
        }
    }

    private static func page(
        _ filter: Filter, _ services: AdminServices, after: String?, limit: Int
    ) async throws -> AdminPage {
        let now = services.clock()
        var (found, cursor, read): ([SessionListing], String?, Int) = ([], after ?? "", 0)
        while let last = cursor, found.count < limit, read < mostRead {
            let size = filter.tenant == nil && filter.state == nil ? limit - found.count : 1_000
            let sessions = try await services.store.liveSessions(
                after: last, userID: filter.user, now: now, limit: size)
            read += sessions.count
            cursor = sessions.count < size ? nil : sessions.last?.id
            for session in sessions where filter.takes(session) {
                found.append(session)
                guard found.count == limit else { continue }
                // What is left of these is read again for the next page.
                if session.id != sessions.last?.id { cursor = session.id }
                break
            }
        }
        let sockets = services.node.sockets(of: found.map(\.id))
        return AdminPage(entries: found.map { entry(of: $0, sockets: sockets[$0.id] ?? 0) }, next: cursor)
    }

    private static func entry(of session: SessionListing, sockets: Int) -> JSONObject {
        var entry: JSONObject = ["id": .string(session.id)]
        for (name, value) in [
            ("user_id", session.userID), ("tenant_id", session.tenantID), ("email", session.email),
        ] {
            if let value, !value.isEmpty { entry[name] = .string(value) }
        }
        entry["state"] = .string(session.state.rawValue)
        entry["created_at"] = .string(Timestamp.text(session.createdAt))
        entry["last_used_at"] = .string(Timestamp.text(session.lastSeenAt))
        entry["expires_at"] = .string(Timestamp.text(session.expiresAt))
        entry["sockets"] = .integer(Int64(sockets))
        return entry
    }

    private static func end(_ call: AdminCall) async throws -> AdminAnswer {
        guard try await call.services.signIn.endByOperator(sessionID: call.pathID) != nil else {
            throw Problem(.notFound, detail: "There is no such session.", reason: "no_session")
        }
        await call.services.node.settled()
        return .noContent
    }
}
