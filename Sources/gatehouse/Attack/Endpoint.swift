import EdgeCore
import NIOCore
import NIOPosix

/// The addresses to connect to, determined before anything is sent.
struct Endpoint: Sendable {
    /// A name, or an address without brackets. A name is also the one that TLS asks the target for.
    let host: String
    let port: Int
    /// The addresses, tried in this order; empty if the name is resolved when connecting.
    private let addresses: [SocketAddress]

    /// - Parameter anywhere: whether other machines than this one are allowed. If not, names are not resolved.
    init(host: String, port: Int, anywhere: Bool) throws(CommandFailure) {
        self.host = host
        self.port = port
        // Not left to the resolver, which could name another machine.
        let literals = host == "localhost" ? ["127.0.0.1", "::1"] : [host]
        addresses = literals.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        let isHere = addresses.allSatisfy { PackedAddress.isLoopback(host: $0.ipAddress ?? "") }
        guard anywhere || (!addresses.isEmpty && isHere) else {
            throw CommandFailure(
                "\(host): not this machine: add --i-own-this-target if it is yours", status: .misused)
        }
    }

    /// Connects to the first address that accepts the connection.
    func connect(_ bootstrap: ClientBootstrap) async throws -> any Channel {
        guard let last = addresses.last else { return try await bootstrap.connect(host: host, port: port).get() }
        for address in addresses.dropLast() {
            if let channel = try? await bootstrap.connect(to: address).get() { return channel }
        }
        return try await bootstrap.connect(to: last).get()
    }
}
