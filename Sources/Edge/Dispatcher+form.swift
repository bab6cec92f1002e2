import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore

/// The first stage: the form of the request.
extension Dispatcher {
    /// What the stages need to know of the request.
    ///
    /// - Throws: the refusal of a request that is malformed or ambiguous, or of a host that is not allowed.
    func prepare(_ head: RequestHead) throws(Problem) -> EdgeRequest {
        // These two ask for no resource: the gateway is no tunnel, and has no answer to `OPTIONS *`.
        if head.knownMethod == .connect || head.targetForm == .asterisk {
            throw methodNotAllowed(MethodRegistry.usual.filter { $0 != "OPTIONS" })
        }
        let host = head.host.map { head.string($0) } ?? ""
        if !services.hosts.isEmpty, !services.hosts.contains(HostName.withoutPort(Array(host.lowercased().utf8))) {
            throw Problem(
                .invalidRequest, .foreignHost, detail: "This gateway does not answer for that host.",
                reason: "foreign_host")
        }
        let path = try canonicalPath(head)
        let facts = try ForwardedFacts.read(
            head, origin: connection.origin, services: services,
            readsForwarded: head.present.contains(.forwarded) && !asksForDecision(path))
        let cookieMode: CookieMode =
            facts.isSecure ? .secure : facts.isLoopback ? .loopback : .none
        if cookieMode != .secure, head.present.contains(.secFetchSite) {
            if cookieMode == .none { services.warnOfMissingCookies() } else { services.warnOfPlainCookies() }
        }
        let trace = loop.traces.trace(of: head, services.sampling)
        return EdgeRequest(
            head: head, path: path, query: head.query.map { range in head.withBytes(range) { Array($0) } },
            requestID: connection.requestID, clientAddress: facts.clientAddress, isSecure: facts.isSecure,
            cookieMode: cookieMode, host: host, forwardedHost: facts.host ?? host, forwardedFor: facts.forwardedFor,
            trace: trace, receivedAt: connection.record.receivedAt)
    }

    /// Whether the request is for the decision endpoint. That only uses the `X-` fields: its decision must not depend
    /// on the field `Forwarded`, which many proxies in front pass on as the client sent it.
    private func asksForDecision(_ path: [UInt8]) -> Bool {
        guard case .verify = services.ownPaths.find(path) else { return false }
        return true
    }

    /// One form for matching, authorisation and forwarding. `%2F` passes only on a route that asks for it.
    private func canonicalPath(_ head: RequestHead) throws(Problem) -> [UInt8] {
        let path: CanonicalPath
        do {
            path = try CanonicalPath(head, allowEncodedSlash: true)
        } catch {
            throw Problem(wire: error)
        }
        let bytes = Array(path.bytes.readableBytesView)
        guard path.hasEncodedSlash || path.hasParameters || path.hasEscapedEscape else { return bytes }
        let own = services.ownPaths.find(bytes)
        // The path that is appended to the decision endpoint's is judged there.
        if case .verify = own { return bytes }
        let host = head.host.map { head.string($0) } ?? ""
        if path.hasEncodedSlash {
            guard own == nil, case .route(let route) = services.routes.match(path: bytes, host: host, head: head),
                route.configuration.encodedSlash
            else { throw Problem(.badMessage, detail: "An encoded slash is not allowed in this path.") }
        }
        guard own == nil else { return bytes }
        let match = { services.routes.match(path: $0, host: host, head: head) }
        if path.hasParameters, PathParameters.areAmbiguous(in: bytes, besides: services.ownPaths, match: match) {
            throw Problem(.badMessage, detail: "With and without its ';' parameters the path means two things.")
        }
        if path.hasEscapedEscape, EscapedEscapes.areAmbiguous(in: bytes, besides: services.ownPaths, match: match) {
            throw Problem(.badMessage, detail: "Decoded once and twice the path means two things.")
        }
        return bytes
    }
}
