import Answers
import Edge
import Encodings
import Runtime
import SecurityGuard

/// What the audit log says of events.
extension Gateway {
    /// Records what SecurityGuard reports. Also tells the access log who the caller was. May be called from any thread.
    func record(_ event: AuditEvent) {
        AuditContext.request?.note(user: event.subject, tenant: event.tenantID, clientID: event.clientID)
        guard isAudited else { return }
        var members = JSONObject()
        if !event.reason.isEmpty { members["reason"] = .string(event.reason) }
        for (name, value) in [
            ("tenant_id", event.tenantID), ("user_id", event.subject), ("client_id", event.clientID),
            ("fid", event.familyID), ("provider", event.provider),
        ] {
            if let value { members[name] = .string(value) }
        }
        record(event.name.rawValue, members)
    }

    /// Records what the Runtime reports. The line has a part of the session's id, enough to find the session again.
    func record(_ event: SessionAudit) {
        AuditContext.request?.note(user: event.userID, tenant: event.tenantID, session: event.reference)
        guard isAudited else { return }
        var members = JSONObject()
        members["session"] = .string(event.reference)
        if !event.reason.isEmpty { members["reason"] = .string(event.reason) }
        for (name, value) in [
            ("tenant_id", event.tenantID), ("user_id", event.userID), ("fid", event.familyID),
        ] {
            if let value { members[name] = .string(value) }
        }
        if let epoch = event.epoch { members["epoch"] = .integer(epoch) }
        record(event.name.rawValue, members)
    }

    /// Records a refusal. The line has the reason even where the client was not told it.
    func record(_ problem: Problem, of request: RefusedRequest) {
        guard isAudited else { return }
        var members: JSONObject = [
            "code": .string(problem.code.rawValue), "reason": .string(problem.reasonOrCode),
            "request_id": .string(request.requestID),
        ]
        for (name, value) in [
            ("client", request.client), ("method", request.method), ("path", request.path), ("route", request.route),
            ("route_host", request.routeHost), ("tenant_id", problem.caller?.tenantID),
            ("user_id", problem.caller?.subject), ("client_id", problem.caller?.clientID),
        ] {
            if let value { members[name] = .string(value) }
        }
        audit("request.refused", members)
    }

    /// Adds the request that the current task answers.
    private func record(_ event: String, _ members: JSONObject) {
        var members = members
        if let request = AuditContext.request {
            members["request_id"] = .string(request.id)
            members["client"] = .string(request.client)
            members["path"] = .string(request.path)
        }
        if let name = AuditContext.operatorName { members["operator"] = .string(name) }
        audit(event, members)
    }
}

extension EdgeMetrics {
    /// Counts what the audit log records of logins. Labels are names of providers, methods and reasons, never anything
    /// that a caller has sent.
    func count(_ event: AuditEvent) {
        switch event.name {
        // The reason of a login that succeeded is its method.
        case .loginSucceeded:
            let method = event.reason.isEmpty ? "password" : event.reason
            loggedIn(method: event.provider ?? method, result: "succeeded")
        case .loginRefused: loggedIn(method: event.provider ?? AuditContext.method ?? "password", result: event.reason)
        case .exchanged: loggedIn(method: "token_exchange", result: "succeeded")
        case .exchangeRefused: loggedIn(method: "token_exchange", result: event.reason)
        default: break
        }
    }
}
