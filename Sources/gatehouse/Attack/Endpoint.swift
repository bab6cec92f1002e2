import NIOCore
import NIOPosix

/// Where packets go: decided once, before the first of them.
struct Endpoint: Sendable {
    let host: String
    let port: Int
    /// The addresses that are tried in their order; none where a name is to be resolved.
    private let addresses: [SocketAddress]

    /// - Parameter anywhere: whether another machine is allowed; else names are not even resolved.
    init(host: String, port: Int, anywhere: Bool) throws(CommandFailure) {
        self.host = host
        self.port = port
        // Whatever the resolver would say of it.
        let literals = host == "localhost" ? ["127.0.0.1", "::1"] : [host]
        addresses = literals.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        guard
            anywhere || (!addresses.isEmpty && addresses.allSatisfy { Loopback.contains(address: $0.ipAddress ?? "") })
        else {
            throw CommandFailure(
                "\(host): not this machine: add --i-own-this-target if it is yours", status: .misused)
        }
    }

    /// A connection to the first address that takes one.
    func connect(_ bootstrap: ClientBootstrap) async throws -> any Channel {
        guard let last = addresses.last else { return try await bootstrap.connect(host: host, port: port).get() }
        for address in addresses.dropLast() {
            if let channel = try? await bootstrap.connect(to: address).get() { return channel }
        }
        return try await bootstrap.connect(to: last).get()
    }
}
