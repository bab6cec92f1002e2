/// A gateway that serves in the background: where it listens, and how to stop it.
package final class OpenGateway: Sendable {
    /// The origin that was bound, such as `http://127.0.0.1:49152`, or `unix:/PATH`.
    package let origin: String
    private let stop: AsyncStream<Void>.Continuation
    private let serving: Task<Void, any Error>

    fileprivate init(_ running: RunningGateway) {
        let (stops, stop) = AsyncStream<Void>.makeStream()
        self.origin = running.place
        self.stop = stop
        self.serving = Task.detached {
            try await running.serve { for await _ in stops {} }
        }
    }

    /// Stops accepting, lets open connections finish within `server.drain`, and returns when everything has ended. May be
    /// called more than once.
    package func drain() async throws {
        stop.finish()
        try await serving.value
    }
}

extension Gateway {
    /// Opens the gateway and serves in the background of this process, until the returned value is drained.
    ///
    /// Accepting has begun when this returns. `onReady` is not called; the store stays open, since its owner closes it.
    ///
    /// - Throws: a one-sentence error when a listener, key or setting can't be used.
    package func open() async throws -> OpenGateway {
        OpenGateway(try await build(self))
    }
}
