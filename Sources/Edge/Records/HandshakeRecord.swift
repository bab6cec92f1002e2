import EdgeCore
import HTTPWire

/// What the records of a socket say of the handshake that opened it.
final class HandshakeRecord {
    /// The client's method; a tunnel over HTTP/2 is a GET here.
    let method: String
    /// Path and query as the access log shows them.
    let target: [UInt8]?
    /// The path alone, as the audit log shows it.
    let path: String?
    let versionMinor: UInt8
    /// The client's address.
    let client: String
    let trace: RequestTrace

    init(_ request: EdgeRequest) {
        let head = request.head
        method = head.string(head.method)
        target = RedactedTarget.target(of: head, canonical: request.path)
        path = RedactedTarget.path(of: head, canonical: request.path)
        versionMinor = head.versionMinor
        client = request.clientAddress
        trace = request.trace
    }
}
