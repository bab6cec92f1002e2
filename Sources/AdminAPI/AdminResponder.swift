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
            let call = AdminCall(services: services, request: request, caller: caller, pathID: id, query: query)
            let context = AuditedRequest(id: request.id, client: request.peer.text, path: route.path)
            return try await AuditContext.$request.withValue(context) {
                try await AuditContext.$operatorName.withValue(call.operatorName) { try await route.handler(call) }
            }
        } catch {
            let problem = Problem.from(error)
            refused(problem, request)
            return .refusal(problem, id: request.id, explain: services.explainsErrors())
        }
    }

    private func refused(_ problem: Problem, _ request: AdminRequest) {
        // Of what a caller may have misspelt, the path could hold an id or a token.
        let path = AdminRoute.all.first { $0.id(in: request.path) != nil }?.path ?? Self.prefix
        services.audit(
            "request.refused",
            [
                "code": .string(problem.code.rawValue), "reason": .string(problem.reason ?? problem.code.rawValue),
                "request_id": .string(request.id), "client": .string(request.peer.text), "path": .string(path),
                "route": .string("none"),
            ])
    }
}
