import EdgeCore
import Gate
import HTTPWire
import NIOCore
import Runtime
import SecurityGuard

/// One line of the access log: what is known of a request when it is over. What does not apply is left out.
struct AccessLine {
    /// How many characters of a session's id are shown: `ses_` and eight more.
    static let sessionLength = 12

    private let record: RequestRecord
    private let requestID: RequestID
    private let origin: ConnectionOrigin
    private let now: NIODeadline

    /// - Parameter now: the end of the answer, or of the socket.
    init(_ record: RequestRecord, requestID: RequestID, origin: ConnectionOrigin, now: NIODeadline) {
        self.record = record
        self.requestID = requestID
        self.origin = origin
        self.now = now
    }

    /// Writes the line as a JSON object, with its newline.
    func write(to buffer: inout ByteBuffer, _ clock: LineClock) {
        JSONLine.append(to: &buffer) { write(to: &$0, clock) }
    }

    private func write(to line: inout JSONLine, _ clock: LineClock) {
        let time = now - record.startedAt
        line.text("time") { clock.write(record.receivedAt + time.nanoseconds / 1_000_000, to: &$0) }
        line.text("request_id") { requestID.write(to: &$0) }
        if let trace = record.trace { line.text("trace_id") { trace.writeID(to: &$0) } }
        line.text("client", record.client ?? origin.peerText)
        if let head = record.head {
            head.withBytes(head.method) { line.text("method", $0) }
            if let target = RedactedTarget.target(of: head, canonical: record.path) { line.text("path", target) }
        } else if let handshake = record.handshake {
            line.text("method", handshake.method)
            if let target = handshake.target { line.text("path", target) }
        }
        line.text("route", record.route.label)
        line.number("status", record.status.map(Int64.init))
        line.text("code", record.code)
        line.text("reason", record.reason)
        line.number("bytes_in", record.bytesIn)
        line.number("bytes_out", record.bytesOut)
        line.milliseconds("duration_ms", time)
        line.text("upstream", record.upstream)
        line.milliseconds("upstream_ms", record.upstreamTime)
        writeCaller(to: &line)
        line.text("protocol", version)
    }

    private func writeCaller(to line: inout JSONLine) {
        let (principal, permit) = (record.admission?.principal, record.admission?.permit)
        line.text("user", principal?.subject ?? permit?.userID ?? record.caller?.user)
        line.text("tenant", principal?.tenantID ?? permit?.tenantID ?? record.caller?.tenant)
        line.text("client_id", principal?.clientID ?? record.caller?.clientID)
        line.text(
            "session", (permit?.sessionID).map { String($0.prefix(Self.sessionLength)) } ?? record.caller?.session)
    }

    private var version: String? {
        if origin.isStream { return "HTTP/2" }
        guard let minor = record.head?.versionMinor ?? record.handshake?.versionMinor else { return nil }
        return minor == 0 ? "HTTP/1.0" : "HTTP/1.1"
    }
}
