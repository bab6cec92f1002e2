import AdminAPI
import Answers
import EdgeConfiguration
import EdgeCore
import Exposition
import Gate
import Glibc
import HTTPWire
import Leases
import NIOCore
import NIOPosix
import StateSurface
import Synchronization

/// The operator's listener: `/healthz`, `/readyz`, `/metrics`, `POST /reload`, and the operator's API below
/// `/api/admin/`. Never the public one. Safe from any thread. It lives as long as the gateway; a reload keeps it, with
/// the services of the start.
package final class AdminListener: Sendable {
    /// Whether the gateway is stopping, so that `/readyz` fails. Set before the public listener is closed.
    package let isDraining = Atomic<Bool>(false)
    private let services: EdgeServices
    private let state: any ChangeFeed
    private let recorder: MetricsRecorder
    /// The operator's API; nil for none.
    private let responder = Mutex<AdminResponder?>(nil)
    /// Reads the configuration again; nil where the process cannot.
    private let reload: (@Sendable () async -> ReloadOutcome)?
    private let channel = Mutex<(any Channel)?>(nil)
    /// The host that the listener is bound to, if it is on loopback: then other names are refused. Before that is
    /// known, they are.
    private let loopbackHost = Mutex<String?>("")
    /// The connections that are open.
    private let openCount = Atomic<Int>(0)
    /// The most connections that may be open. Further ones are closed at once.
    private static let mostOpen = 256

    /// - Parameter services: of the start; only what a reload does not change is used of them.
    /// - Parameter state: the store, whose feed `/readyz` goes by.
    /// - Parameter reload: for `POST /reload`; nil answers that with 404.
    package init(
        services: EdgeServices, state: any ChangeFeed, recorder: MetricsRecorder,
        reload: (@Sendable () async -> ReloadOutcome)?
    ) {
        self.services = services
        self.state = state
        self.recorder = recorder
        self.reload = reload
    }

    /// Binds the listener; returns the address that was bound.
    ///
    /// - Parameters:
    ///   - inherited: the descriptor of a listening socket that is used instead.
    ///   - makeResponder: makes the operator's API for the address that was bound.
    ///   - address: `server.admin`.
    ///   - group: the loops of the gateway; connections are spread over them.
    /// - Returns: where it listens: `address` with the port that the system chose, or the address of the inherited
    ///   socket.
    /// - Throws: ``GatewayError`` with a sentence for the operator.
    package func open(
        _ address: ListenAddress, inherited: CInt? = nil, group: MultiThreadedEventLoopGroup,
        makeResponder: (AdminRights) -> AdminResponder
    ) async throws -> ListenAddress {
        do {
            let channel = try await bind(address, inherited, group)
            self.channel.withLock { $0 = channel }
            let bound = try Self.bound(channel, address, isInherited: inherited != nil)
            let isLoopback = bound.path == nil && PackedAddress.isLoopback(host: bound.host)
            loopbackHost.withLock { $0 = isLoopback ? bound.host : nil }
            let responder = makeResponder(Self.rights(at: bound))
            self.responder.withLock { $0 = responder }
            return bound
        } catch let error as GatewayError {
            throw error.about("server.admin")
        } catch {
            throw GatewayError(
                binding: "server.admin \(address)", error, choose: "choose another with --admin, or --admin off")
        }
    }

    private func bind(
        _ address: ListenAddress, _ inherited: CInt?, _ group: MultiThreadedEventLoopGroup
    ) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                guard self.openCount.add(1, ordering: .relaxed).newValue <= Self.mostOpen else {
                    self.openCount.subtract(1, ordering: .relaxed)
                    return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
                }
                channel.closeFuture.whenComplete { _ in self.openCount.subtract(1, ordering: .relaxed) }
                return channel.eventLoop.completed {
                    try channel.pipeline.syncOperations.addHandler(AdminConnection(self))
                }
            }
        if let inherited { return try await bootstrap.withBoundSocket(inherited).get() }
        if let path = address.path {
            return try await bootstrap.listen(onUnixSocket: path, mode: services.configuration.server.socketMode).get()
        }
        var shared = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        if services.configuration.server.reusePort {
            shared = shared.serverChannelOption(
                ChannelOptions.Types.SocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: SO_REUSEPORT)),
                value: 1)
        }
        return try await shared.bind(host: address.host, port: address.port).get()
    }

    /// Where the listener is in fact, which decides who may use it. An inherited socket need not be where
    /// `server.admin` says.
    private static func bound(
        _ channel: any Channel, _ wanted: ListenAddress, isInherited: Bool
    ) throws(GatewayError) -> ListenAddress {
        let local = channel.localAddress
        guard isInherited else {
            return wanted.path != nil ? wanted : ListenAddress(host: wanted.host, port: local?.port ?? wanted.port)
        }
        guard let address = local.flatMap(ListenAddress.init(bound:)) else {
            throw GatewayError(.listenFailed, "the socket that was passed has no port and no absolute path")
        }
        return address
    }

    /// Who may use the API of a listener at this address, and which pages are its own.
    private static func rights(at address: ListenAddress) -> AdminRights {
        guard address.path == nil else { return AdminRights(user: SystemUser.current, origins: []) }
        let isEverywhere = PackedAddress.bytes(of: address.host)?.allSatisfy { $0 == 0 } ?? false
        var hosts = [address.host.contains(":") ? "[\(address.host)]" : address.host]
        if PackedAddress.isLoopback(host: address.host) || isEverywhere {
            hosts += ["localhost", "127.0.0.1", "[::1]"]
        }
        return AdminRights(
            user: SystemUser.current, origins: hosts.map { "http://\($0):\(address.port)" },
            takesLiterals: isEverywhere)
    }

    /// Closes the listener. Open connections go on until they are answered.
    package func close() async {
        let channel = channel.withLock { $0 }
        try? await channel?.close().get()
    }

    /// Answers a request. Called in a task, off the event loops. HEAD arrives as GET. A name that is not this
    /// listener's is answered with 421 where the listener is on loopback: a web page could have made it up (DNS
    /// rebinding).
    func answer(_ request: AdminRequest) async -> AdminAnswer {
        if let own = loopbackHost.withLock({ $0 }), AdminHost.isForeign(request.host, own: own) {
            return refuse(Self.foreignName, request)
        }
        if request.path.utf8.starts(with: AdminResponder.prefix.utf8) {
            guard let responder = responder.withLock({ $0 }) else { return .text(.notFound, "not found\n") }
            return await responder.answer(request)
        }
        if request.path == "/reload" {
            return request.method == "POST" ? await reload(request) : .methodNotAllowed("POST")
        }
        let isRead = request.method == "GET"
        switch request.path {
        case "/healthz": return isRead ? .text(200, "ok\n") : .methodNotAllowed("GET, HEAD")
        case "/readyz": return isRead ? ready() : .methodNotAllowed("GET, HEAD")
        case "/metrics": return isRead ? await metrics() : .methodNotAllowed("GET, HEAD")
        default:
            guard let page = AdminAnswer(asset: request.path) else { return .text(.notFound, "not found\n") }
            return isRead ? page : .methodNotAllowed("GET, HEAD")
        }
    }

    /// Refuses what the listener can't take: with a problem document below `/api/admin/` and where the path could not be
    /// read, with a text for the other endpoints, as they answer everything.
    func refuse(_ problem: Problem, _ request: AdminRequest) -> AdminAnswer {
        let isForAPI = request.path.isEmpty || request.path.utf8.starts(with: AdminResponder.prefix.utf8)
        guard isForAPI, let responder = responder.withLock({ $0 }) else {
            return .text(problem.status, "\(problem.detail)\n")
        }
        return responder.refuse(problem, request)
    }

    private static let foreignName = Problem(
        .invalidRequest, .foreignHost,
        detail: "This listener is on loopback: ask for localhost or its address, not for another name.",
        reason: "foreign_name")

    /// Reloads the configuration. A page in a browser of this machine could send the request, too: the browser says so,
    /// and it is refused.
    private func reload(_ request: AdminRequest) async -> AdminAnswer {
        guard let reload else { return .text(.notFound, "not found\n") }
        if request.origin != nil || request.fetchSite != nil { return .text(.originRefused, "not from a web page\n") }
        let outcome = await reload()
        if case .refused(let why) = outcome { return .text(409, "\(why)\n") }
        return .text(200, "\(outcome.text)\n")
    }

    private func ready() -> AdminAnswer {
        if isDraining.load(ordering: .relaxed) { return .text(.overloaded, "draining\n") }
        let health = StoreWatch.health(of: state, services.securityGuard, grace: services.configuration.state.grace)
        return health == .current ? .text(200, "ready\n") : .text(.storeUnavailable, "store unavailable\n")
    }

    private func metrics() async -> AdminAnswer {
        guard let exposition = services.metrics.exposition else {
            return .text(.notFound, "the metrics backend of this process is not read here\n")
        }
        await recorder.record()
        return AdminAnswer(
            status: 200, fields: [("Content-Type", exposition.contentType)],
            body: .whole(Array(exposition.text().utf8)))
    }
}
