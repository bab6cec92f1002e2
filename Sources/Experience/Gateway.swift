import EdgeConfiguration
import Encodings
import Logging
import Runtime
import ServiceLifecycle
import StateSurface

/// The gateway as a service: listeners, gate, proxy, sockets, API and the embedded Runtime behind them.
///
/// `run()` opens the listeners, calls `onReady`, serves until a graceful shutdown is asked for, drains and returns.
public struct Gateway: Service, CustomStringConvertible {
    let configuration: GatewayConfiguration
    let state: any StateSurface
    let clock: @Sendable () -> Int64
    let logger: Logger
    let audit: @Sendable (_ event: String, _ members: JSONObject) -> Void
    let onReady: @Sendable (_ origin: String) -> Void
    /// Realms of the adopter's, besides the built-in ones.
    let realms: [any Realm]
    let build: @Sendable (Gateway) async throws -> RunningGateway
    /// Whether anybody keeps what `audit` is given: else it need not be put together.
    package var isAudited = true
    /// Whether the store was opened for this gateway alone, which then closes it.
    var ownsState = false

    /// - Parameters:
    ///   - state: the open store; whoever opened it closes it.
    ///   - clock: milliseconds since the Unix epoch.
    ///   - audit: hears of everything that is worth an audit line; never given a token, secret or full session id.
    ///   - onReady: called once, with the origin that was bound (`unix:/PATH` for a Unix socket), when connections are
    ///     accepted.
    ///   - realms: the adopter's own, besides the built-in ones.
    package init(
        configuration: GatewayConfiguration, state: any StateSurface, clock: @escaping @Sendable () -> Int64,
        logger: Logger, audit: @escaping @Sendable (String, JSONObject) -> Void = { _, _ in },
        onReady: @escaping @Sendable (String) -> Void = { _ in }, realms: [any Realm] = []
    ) {
        self.configuration = configuration
        self.state = state
        self.clock = clock
        self.logger = logger
        self.audit = audit
        self.onReady = onReady
        self.realms = realms
        self.build = { try await buildGateway($0) }
    }

    /// Its name alone: loggers describe services, and the configuration holds the store's password.
    public var description: String { "Gateway" }

    /// Serves until the task is told to shut down gracefully.
    ///
    /// - Throws: a one-sentence error when a listener, key or setting can't be used.
    public func run() async throws {
        do {
            try await serve()
        } catch {
            if ownsState { await state.close() }
            throw error
        }
        if ownsState { await state.close() }
    }

    private func serve() async throws {
        let running = try await build(self)
        onReady(running.place)
        try await running.serve()
    }
}
