import EdgeConfiguration
import EdgeCore
import NIOSSL

/// What the listener does in a handshake, by the name that the client asks for (SNI): which certificate it shows, and
/// whether it asks for one.
struct ServerContexts: Sendable {
    /// The decision for one handshake.
    struct Choice: Sendable {
        let context: NIOSSLContext
        /// What the client's certificate is verified against; nil where none is asked for.
        let authority: ClientAuthority?
    }

    /// The two ways to show one certificate.
    private struct Pair: Sendable {
        let plain: NIOSSLContext
        /// nil where no client is asked.
        let asking: NIOSSLContext?
    }

    private let usual: Pair
    private let named: [String: Pair]
    private let asking: CertificateHosts
    /// What clients' certificates are verified against; nil where no client is asked.
    var authority: ClientAuthority?

    /// Reads all files.
    ///
    /// - Throws: ``GatewayError`` `.certificate` for the first chain, key or authority that can't be used.
    init(_ files: GatewayConfiguration.TLS, asking: CertificateHosts) throws {
        self.asking = asking
        authority = files.clientCA.map { ClientAuthority(file: $0) }
        usual = try Self.pair(files.certificate, files.key, files.clientCA)
        var named: [String: Pair] = [:]
        for entry in files.certificates {
            let pair = try Self.pair(entry.certificate, entry.key, files.clientCA)
            for host in entry.hosts { named[Self.normal(host)] = pair }
        }
        self.named = named
    }

    /// Whether the name matters, so that it has to be read before the handshake begins.
    var dependOnName: Bool { !named.isEmpty || asking.dependsOnName }

    /// The decision for a client that asks for this name; nil for none. A certificate for the whole name comes before
    /// one for `*.` and the rest, and the usual one is for all others.
    func choice(for name: String?) -> Choice {
        let name = name.map(Self.normal)
        let pair = name.flatMap { named[$0] ?? named[Self.wildcard(for: $0)] } ?? usual
        guard asking.contains(name), let context = pair.asking else {
            return Choice(context: pair.plain, authority: nil)
        }
        return Choice(context: context, authority: authority)
    }

    /// A host name in lower case and without a final dot.
    static func normal(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    /// `*.example.com` for `shop.example.com`.
    private static func wildcard(for name: String) -> String {
        guard let dot = name.firstIndex(of: ".") else { return "" }
        return "*" + name[dot...]
    }

    /// The cipher suites for TLS 1.2: only those with forward secrecy and authenticated encryption (RFC 9325 section
    /// 4.2). HTTP/2 allows no others (RFC 9113 appendix A), and TLS 1.3 has no others.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func pair(_ certificate: String, _ key: String, _ authority: String?) throws -> Pair {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate).map {
                NIOSSLCertificateSource.certificate($0)
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuiteValues = cipherSuites
            configuration.applicationProtocols = ["h2", "http/1.1"]
            let plain = try NIOSSLContext(configuration: configuration)
            guard let authority else { return Pair(plain: plain, asking: nil) }
            // A certificate that is shown must be valid; without one the handshake goes on, and the route decides.
            configuration.certificateVerification = .optionalVerification
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
            configuration.sendCANameList = true
            return Pair(plain: plain, asking: try NIOSSLContext(configuration: configuration))
        } catch {
            let authorities = authority.map { ", client_ca \($0)" } ?? ""
            throw GatewayError(
                .certificate,
                "server.tls: certificate \(certificate) and key \(key)\(authorities) can't be used (\(error)): give a PEM chain and its PEM key",
                cause: error)
        }
    }
}
