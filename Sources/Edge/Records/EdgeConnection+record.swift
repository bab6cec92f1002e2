import AdminAPI
import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// What the connection records of its requests.
extension EdgeConnection {
    /// Counts a refusal and writes it to the audit log.
    func observe(_ problem: Problem) {
        record.refused(problem)
        services.observe(
            problem,
            RefusedRequest(
                requestID: requestID.text, client: record.client ?? origin.peerText,
                path: record.head.flatMap { RedactedTarget.path(of: $0, canonical: record.path) },
                route: record.route.label, routeHost: record.route.host,
                method: record.head?.registeredMethod))
    }

    /// A socket has been opened: its request is recorded when it ends, and counted now.
    func beginTunnelRecord() {
        record.opened()
        loop.socketCount += 1
        loop.meters.opened(record.route)
    }

    /// Closes the tunnel, if it goes through a route that is no longer there.
    func endTunnel(unless isRouted: (Route) -> Bool) {
        guard let tunnel, case .route(let route) = record.route, !isRouted(route) else { return }
        tunnel.routeGone()
    }

    /// The request is over: counts it, and writes its line.
    func endRecord() {
        guard record.isOpen else { return }
        let now = NIODeadline.now()
        if record.isSocket { loop.socketCount -= 1 }
        loop.meters.ended(record.figures(now: now))
        if let log = loop.accessLog {
            log.add(AccessLine(record, requestID: requestID, origin: origin, now: now))
        }
        if let code = record.code {
            loop.refusals.add(RefusalEntry(record, code: code, requestID: requestID, origin: origin, time: loop.now()))
        }
        if let spans = loop.spans, let trace = record.trace, trace.isRecorded {
            spans.add(RequestSpan(record, trace, requestID, now: now))
        }
        record.close()
    }
}
