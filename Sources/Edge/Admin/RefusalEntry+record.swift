import AdminAPI
import EdgeCore
import Gate
import HTTPWire
import NIOCore
import Runtime
import SecurityGuard

extension RefusalEntry {
    /// A refusal that a request's record tells of.
    ///
    /// - Parameter time: when the answer was done, in ms since the epoch.
    /// - Parameter code: of the refusal, which `record` has.
    /// - Parameter origin: tells the peer where the request was refused before its client was known.
    init(_ record: RequestRecord, code: String, requestID: RequestID, origin: ConnectionOrigin, time: Int64) {
        self.init(time: time, requestID: requestID.text, route: record.route.label, code: code)
        routeHost = record.route.host
        client = record.client ?? origin.peerText
        if let head = record.head {
            method = head.string(head.method)
            path = RedactedTarget.target(of: head, canonical: record.path).map(RedactedTarget.text(of:))
        } else if let handshake = record.handshake {
            method = handshake.method
            path = handshake.target.map(RedactedTarget.text(of:))
        }
        status = record.status
        reason = record.reason
        let (principal, permit) = (record.admission?.principal, record.admission?.permit)
        user = principal?.subject ?? permit?.userID ?? record.caller?.user
        session = permit.map { String($0.sessionID.prefix(AccessLine.sessionLength)) } ?? record.caller?.session
    }
}
