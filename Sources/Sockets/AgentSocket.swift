import Gate
import Leases
import NIOCore
import Runtime

/// Carries the embedded Runtime's agent protocol over a socket. Runs on the socket's event loop; what the Runtime sends
/// comes from elsewhere and hops to it.
package final class AgentSocket: SocketApplication {
    private let runtime: Runtime
    private let permit: Permit
    private let resumeFrom: Int64?
    private weak var socket: EmbeddedSocket?
    private var connection: AgentConnection?
    private var isClosed = false
    /// How many events were sent before the Runtime's side of the connection existed and could be told.
    private var writtenEarly = 0
    /// How many events may be on their way to the client at once: a long replay is read only as fast as the client
    /// takes it.
    private static let window = 32

    /// Creates the application for an admitted socket; nil where the admission opens no session.
    ///
    /// - Parameter resumeFrom: the number of the last event that the client has; the later ones are replayed. Nil for
    ///   none.
    package init?(runtime: Runtime, admission: Admission, resumeFrom: Int64?) {
        guard let permit = admission.permit else { return nil }
        self.runtime = runtime
        self.permit = permit
        self.resumeFrom = resumeFrom
    }

    /// No message is read before the Runtime has answered `ready`, nor while too many intents wait.
    package var wantsMessages: Bool { connection?.hasRoom ?? false }

    /// Attaches the socket to its session in the Runtime. A session that has ended meanwhile closes it with 4403.
    package func opened(_ socket: EmbeddedSocket) {
        self.socket = socket
        guard let loop = socket.eventLoop else { return }
        let me = NIOLoopBound(self, eventLoop: loop)
        let (runtime, permit, resumeFrom) = (self.runtime, self.permit, self.resumeFrom)
        loop.makeFutureWithTask {
            try await runtime.attach(permit: permit, resumeFrom: resumeFrom, window: Self.window) { output in
                loop.execute { me.value.send(output) }
            }
        }.whenComplete { result in
            me.value.attached(result)
        }
    }

    private func attached(_ result: Result<AgentConnection, any Error>) {
        switch result {
        case .success(let connection):
            guard !isClosed else { return connection.detach() }
            self.connection = connection
            if writtenEarly > 0 { connection.written(events: writtenEarly) }
            resumeWhenRoom(connection)
            socket?.resume()
        case .failure(let error):
            let end: LeaseEnd = error is SessionFault ? .sessionEnded : .storeLost
            socket?.close(end.close)
        }
    }

    private func resumeWhenRoom(_ connection: AgentConnection) {
        guard let loop = socket?.eventLoop else { return }
        let me = NIOLoopBound(self, eventLoop: loop)
        connection.whenRoom { loop.execute { me.value.socket?.resume() } }
    }

    private func send(_ output: AgentOutput) {
        switch output {
        case .event(let text): socket?.send(text: text) { [weak self] in self?.wroteEvent() }
        case .message(let text): socket?.send(text: text)
        case .end(let end): socket?.close(SocketClose(end))
        }
    }

    private func wroteEvent() {
        if let connection { connection.written(events: 1) } else { writtenEarly += 1 }
    }

    /// Hands the Runtime one message. The Runtime answers one that is no valid intent with an error, not with a Close.
    package func received(text: ByteBuffer) { connection?.receive(text.readableBytesView) }
    /// The protocol has only text; the Runtime answers this with an error.
    package func received(binary: ByteBuffer) { connection?.receiveUnreadable() }

    /// Detaches from the Runtime. An intent that runs goes on; those that wait are dropped.
    package func closed() {
        isClosed = true
        connection?.detach()
        connection = nil
    }
}
