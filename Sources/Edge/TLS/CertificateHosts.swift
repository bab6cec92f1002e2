import EdgeConfiguration

/// The hosts whose clients are asked for a certificate.
package struct CertificateHosts: Sendable, Equatable {
    /// Whether every client is asked, because a route for any host requires a certificate.
    private let all: Bool
    private let hosts: Set<String>

    /// Only routes with `client_certificate: required` count.
    ///
    /// - Parameter routes: of the configuration.
    package init(_ routes: [RouteConfiguration]) {
        let asking = routes.filter { $0.clientCertificate == .required }
        all = asking.contains { $0.host == nil }
        hosts = Set(asking.compactMap { $0.host.map(ServerContexts.normal) })
    }

    /// Whether the name in the handshake decides who is asked.
    var dependsOnName: Bool { !all && !hosts.isEmpty }

    /// Whether a client that names this host in the handshake is asked. One that names none may mean any of them.
    func contains(_ name: String?) -> Bool {
        guard let name else { return all || !hosts.isEmpty }
        return all || hosts.contains(name)
    }
}
