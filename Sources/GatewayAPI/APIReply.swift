import Answers
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SecurityGuard
import Synchronization

/// A complete answer of the API. The edge writes it to the client as it is. It is made off the event loop.
package struct APIReply: Sendable {
    /// The status code. A 204 or 304 has no body.
    package let status: Int
    /// The fields, except those that the connection writes itself: length, framing, `Date`, `X-Request-Id`. In the
    /// order in which they are sent. `Set-Cookie` may be there twice.
    package let fields: [(name: String, value: String)]
    /// The whole body.
    package let body: [UInt8]
    /// The problem that was answered; nil for none. For the access log and the operator's list of refusals: the audit
    /// log and the metrics have it already.
    package let problem: Problem?
    /// Who the caller is, as far as the request has shown. Empty where no credential was accepted.
    package let subject: AuditedRequest.Subject
}

/// Notes the refusal of a request for its ``APIReply``.
final class RefusalNote: Sendable {
    private let noted = Mutex<Problem?>(nil)

    /// Nil until the request is refused; then the refusal. Safe from any thread.
    var problem: Problem? {
        get { noted.withLock { $0 } }
        set { noted.withLock { $0 = newValue } }
    }

    /// The note of the request that the current task answers.
    @TaskLocal static var current: RefusalNote?
}

extension APIServices {
    /// Leaves a refusal in all logs, the metrics and the operator's list. To be called once for each refused request,
    /// in the task that answers it.
    func note(_ problem: Problem, of facts: APIRequestFacts) {
        RefusalNote.current?.problem = problem
        refused(problem, facts)
    }
}

extension APIResponder {
    /// Answers a request of the edge. The request runs in the calling task, off the event loop, and goes on when its
    /// client leaves: a sign-in whose password was checked is not undone. The request that the audit log names is bound
    /// to the task (`AuditContext`).
    ///
    /// - Parameters:
    ///   - method: as the client sent it, a `HEAD` as its `GET`.
    ///   - ifNoneMatch: the field of that name, if there is one.
    ///   - facts: with the whole body. A path in another than its canonical form finds no route.
    ///   - logger: for faults that no route has foreseen.
    /// - Returns: a complete answer, refusals included.
    /// - Throws: only where the body of an answer can't be collected; those of the routes are in memory.
    package func reply(
        to facts: APIRequestFacts, method: String, ifNoneMatch: String?, logger: Logger
    ) async throws -> APIReply {
        var fields = HTTPFields()
        if let ifNoneMatch { fields[.ifNoneMatch] = ifNoneMatch }
        let request = Request(
            head: HTTPRequest(
                method: HTTPRequest.Method(rawValue: method) ?? .get,
                scheme: facts.cookieMode == .secure ? "https" : "http", authority: nil, path: facts.path,
                headerFields: fields),
            body: .init(buffer: ByteBuffer()))
        let context = APIContext(source: APIContextSource(facts: facts, logger: logger))
        let audited = AuditedRequest(id: facts.requestID, client: facts.peerAddress, path: facts.shownPath)
        let note = RefusalNote()
        let response = try await AuditContext.$request.withValue(audited) {
            try await RefusalNote.$current.withValue(note) { try await respond(to: request, context: context) }
        }
        let written = WrittenBody()
        try await response.body.write(written)
        return APIReply(
            status: response.status.code,
            fields: response.headers.filter { !Self.isWrittenByConnection($0.name) }.map {
                ($0.name.rawName, $0.value)
            },
            body: Array(written.buffer.readableBytesView), problem: note.problem, subject: audited.subject)
    }

    /// The fields that Hummingbird sets and the edge writes anew for the connection that the answer goes over.
    private static func isWrittenByConnection(_ name: HTTPField.Name) -> Bool {
        name == .contentLength || name == .transferEncoding || name == .connection || name == .date
            || name.canonicalName == "x-request-id"
    }
}

/// The body of the router's answer, written into memory. The bodies of the API are small.
private final class WrittenBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ part: ByteBuffer) async throws { buffer.writeImmutableBuffer(part) }
    consuming func finish(_ trailers: HTTPFields?) async throws {}
}
