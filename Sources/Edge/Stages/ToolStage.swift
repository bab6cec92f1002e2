import AgentTools
import Answers
import AuthorizationServer
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore
import SecurityGuard

/// A request to the embedded Runtime as a server of the Model Context Protocol (`runtime.mcp`): the checks of every
/// resource, then ``ToolExchange``.
struct ToolStage: GatedStage {
    let dispatcher: Dispatcher
    let request: EdgeRequest
    let route: Route

    /// Only the route's own path is served, nothing below it. The length that is announced is judged before the gate.
    func start() throws(Problem) -> (any Exchange)? {
        guard request.path.elementsEqual(route.prefix) else { throw Problem(.notFound) }
        guard BodyCollector(limit: RPCBody.maximumBytes).takes(head.framing) else {
            connection.closeAfterAnswer()
            throw Problem(.payloadTooLarge, detail: "At most 64 KiB are taken here.")
        }
        let asked = GateRequest(
            head: head, query: request.query, way: .fields, cookies: request.cookieMode, receivedAt: request.receivedAt)
        return try dispatcher.admit(asked, route.access, for: self)
    }

    /// - Throws: `not_allowed` for a caller that is no user, `invalid_request` for fields that are there twice,
    ///   `not_found` for a protocol session that can't be one.
    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)? {
        connection.record.admission = admission
        guard let resource = route.access.resource, let principal = admission.principal, principal.isUser else {
            throw Problem(.notAllowed, reason: "no_user")
        }
        guard head.count(.mcpProtocolVersion) <= 1 else {
            throw Problem(.invalidRequest, detail: "MCP-Protocol-Version was sent twice.", reason: "sent_twice")
        }
        let stage = ResourceStage(loop: dispatcher.loop, services: services, resource: resource)
        var session: [UInt8]?
        if case .one(let id) = try stage.session(namedBy: head) { session = id }
        let facts = ToolFacts(
            method: head.knownMethod,
            headers: ToolHeaders(
                version: value("mcp-protocol-version"), method: value("mcp-method"), name: value("mcp-name")),
            session: session,
            isKnown: session.map { stage.remembered(stage.record($0, of: principal)) != nil } ?? false,
            lastEventID: value("last-event-id"), takesStream: takesStream,
            sendsJSON: head.mediaType == "application/json", principal: principal, resource: resource,
            client: ClientBucket.name(request.clientAddress))
        return ToolExchange(connection: connection, request: request, route: route, admission: admission, facts: facts)
    }

    /// The challenge names the resource's metadata (RFC 9728 section 5.1).
    func refuse(_ problem: Problem) {
        connection.respond(route.resourceChallenge?.applied(to: problem) ?? problem)
    }

    /// The value of a field that is there once.
    private func value(_ name: StaticString) -> String? {
        let found = head.fields.filter { head.equals($0.name, name) }
        guard found.count == 1, let field = found.first else { return nil }
        return head.string(field.value)
    }

    /// Whether the client takes an event stream, which the protocol asks of every client.
    private var takesStream: Bool {
        head.fields.contains { field in
            guard field.id == .accept else { return false }
            let value = head.string(field.value).lowercased()
            return value.contains("text/event-stream") || value.contains("*/*")
        }
    }
}
