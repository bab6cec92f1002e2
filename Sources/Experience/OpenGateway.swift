import EdgeConfiguration

/// A gateway that serves in the background: where it listens, and how to stop it.
package final class OpenGateway: Sendable {
    /// The origin that was bound, such as `http://127.0.0.1:49152`, or `unix:/PATH`.
    package let origin: String
    /// Where the admin listener was bound; nil where there is none.
    package var adminAddress: ListenAddress? { running.adminAddress }
    private let stop: AsyncStream<Void>.Continuation
    private let serving: Task<Void, any Error>
    private let running: RunningGateway

    fileprivate init(_ running: RunningGateway) {
        let (stops, stop) = AsyncStream<Void>.makeStream()
        self.origin = running.place
        self.running = running
        self.stop = stop
        self.serving = Task.detached {
            try await running.serve { for await _ in stops {} }
        }
    }

    /// Goes on with another configuration; see ``Gateway/change(to:)``.
    package func change(to configuration: GatewayConfiguration) async throws {
        try await running.change(to: configuration)
    }

    /// Stops accepting, lets open connections finish within `server.drain`, and returns when everything has ended. May
    /// be called more than once.
    ///
    /// - Throws: what ended serving, if it was an error.
    package func drain() async throws {
        stop.finish()
        try await serving.value
    }
}

extension Gateway {
    /// Opens the gateway and serves in the background of this process, until the returned value is drained.
    ///
    /// Accepting has begun when this returns. `onReady` is not called; the store stays open, since its owner closes it.
    /// Where it is never drained, it serves until the process ends.
    ///
    /// - Throws: a one-sentence error when a listener, key or setting can't be used.
    package func open() async throws -> OpenGateway {
        OpenGateway(try await build(self))
    }
}
