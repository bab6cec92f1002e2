import Answers
import Encodings
import SecurityGuard

/// Answers the operator's API. Every request gets an answer: no fault escapes as an error.
package struct AdminResponder: Sendable {
    /// The paths that begin so are its own.
    package static let prefix = "/api/admin/"

    private let services: AdminServices
    private let rights: AdminRights

    package init(_ services: AdminServices, rights: AdminRights) {
        self.services = services
        self.rights = rights
    }

    /// Answers a request.
    package func answer(_ request: AdminRequest) async -> AdminAnswer {
        do {
            let caller = try rights.caller(of: request) { services.securityGuard.judge(token: $0.utf8) }
            // A token may have been revoked while the store could not say so.
            if case .subject = caller, !services.node.store().isReachable {
                throw Problem(.storeUnavailable, reason: "feed_silent")
            }
            let (route, id) = try AdminRoute.find(request.method, request.path)
            let query = try AdminQuery.read(request.query, known: route.parameters)
            let call = AdminCall(
                services: services, request: request, caller: caller, path: route.path, pathID: id, query: query)
            let context = AuditedRequest(id: request.id, client: request.peer.text, path: route.path)
            return try await AuditContext.$request.withValue(context) {
                try await AuditContext.$operatorName.withValue(call.operatorName) { try await route.handler(call) }
            }
        } catch {
            return refuse(Problem.from(error), request)
        }
    }

    /// Refuses a request, and leaves a line in the audit log. Also for the listener, which refuses what it can't take
    /// before the API is asked.
    package func refuse(_ problem: Problem, _ request: AdminRequest) -> AdminAnswer {
        var members: JSONObject = [
            "code": .string(problem.code.rawValue), "reason": .string(problem.reasonOrCode),
            "request_id": .string(request.id), "client": .string(request.peer.text),
        ]
        if let method = request.shownMethod { members["method"] = .string(method) }
        if !request.path.isEmpty {
            // Of what a caller may have misspelt, the path could hold an id or a token.
            let path = AdminRoute.all.first { $0.id(in: request.path) != nil }?.path ?? Self.prefix
            members["path"] = .string(path)
        }
        members["route"] = .string("none")
        services.audit("request.refused", members)
        return .refusal(problem, id: request.id, explain: services.explainsErrors())
    }
}
