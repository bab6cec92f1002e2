import NIOCore
import Runtime

/// Carries the embedded Runtime's agent protocol over a socket.
final class AgentSocket: SocketApplication {
    private let runtime: Runtime
    private let permit: Permit
    private let resumeFrom: Int64?
    private weak var socket: EmbeddedSocket?
    private var connection: AgentConnection?
    private var isClosed = false

    init(runtime: Runtime, permit: Permit, resumeFrom: Int64?) {
        self.runtime = runtime
        self.permit = permit
        self.resumeFrom = resumeFrom
    }

    /// Nothing is read before the Runtime has answered `ready`.
    var wantsMessages: Bool { connection != nil }

    func opened(_ socket: EmbeddedSocket) {
        self.socket = socket
        guard let loop = socket.eventLoop else { return }
        let me = NIOLoopBound(self, eventLoop: loop)
        let (runtime, permit, resumeFrom) = (self.runtime, self.permit, self.resumeFrom)
        loop.makeFutureWithTask {
            try await runtime.attach(permit: permit, resumeFrom: resumeFrom) { output in
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
            socket?.resume()
        case .failure(let error):
            let isMismatch = error is SessionFault
            socket?.close(
                code: isMismatch ? LeaseEnd.sessionEnded.closeCode : LeaseEnd.storeLost.closeCode,
                reason: isMismatch ? LeaseEnd.sessionEnded.reason : LeaseEnd.storeLost.reason)
        }
    }

    private func send(_ output: AgentOutput) {
        switch output {
        case .text(let text): socket?.send(text: text)
        case .close(let code, let reason): socket?.close(code: code, reason: reason)
        }
    }

    func received(text: ByteBuffer) { connection?.receive(text.readableBytesView) }
    func received(binary: ByteBuffer) { connection?.receiveUnreadable() }

    func closed() {
        isClosed = true
        connection?.detach()
        connection = nil
    }
}
