import Encodings
import JOSE
import Runtime
import SecurityGuard

/// `GET /api/admin/keys`: the signing keys, never their private parts.
enum KeyRoutes {
    static let all = [AdminRoute("GET", "keys", ["limit", "after"], list)]

    private static func list(_ call: AdminCall) async throws -> AdminAnswer {
        let directory = call.services.securityGuard.keyDirectory
        return try await call.list("keys") { after, limit in
            try AdminCall.page(try directory.list().map(entry), after: after, limit: limit)
        }
    }

    private static func entry(of key: KeyDirectory.Listing) -> JSONObject {
        var entry: JSONObject = [
            "kid": .string(key.entry.keyID), "algorithm": .string(key.entry.algorithm.rawValue),
            "state": .string(key.state.rawValue),
            "created_at": .string(Timestamp.text(key.entry.publishedAt)),
        ]
        let end = key.entry.retiredAt ?? (key.state == .retiring ? key.until : nil)
        if let end { entry["retires_at"] = .string(Timestamp.text(end)) }
        return entry
    }
}
