import EdgeConfiguration
import EdgeCore
import NIOSSL

/// TLS for connections to upstreams. Chain and name are always verified; a route only chooses the roots and the name.
package enum UpstreamTrust {
    /// Whether the bytes are certificates in PEM, at least one.
    package static func holdsCertificates(_ pem: [UInt8]) -> Bool {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem) else { return false }
        return !certificates.isEmpty
    }

    /// Whether the bytes are a private key in PEM that needs no passphrase.
    package static func holdsKey(_ pem: [UInt8]) -> Bool {
        (try? NIOSSLPrivateKey(bytes: pem, format: .pem)) != nil
    }

    /// Whether these certificates and this key, both in PEM, belong together.
    package static func fit(certificates: [UInt8], key: [UInt8]) -> Bool {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificates),
            let privateKey = try? NIOSSLPrivateKey(bytes: key, format: .pem)
        else { return false }
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { NIOSSLCertificateSource.certificate($0) },
            privateKey: .privateKey(privateKey))
        return (try? NIOSSLContext(configuration: configuration)) != nil
    }

    /// One context for each route that needs one, in the order of the routes. Routes with the same settings share one.
    /// Reads the files of the routes. TLS 1.2 is the least that is spoken.
    ///
    /// - Throws: ``GatewayError`` `.upstreamTrust` for the first route whose files can't be used.
    package static func contexts(for routes: [RouteConfiguration]) throws -> [NIOSSLContext?] {
        var made: [RouteConfiguration.UpstreamTLS: NIOSSLContext] = [:]
        var contexts: [NIOSSLContext?] = []
        for route in routes {
            guard route.reachesTLS else {
                contexts.append(nil)
                continue
            }
            let shared = try made[route.upstreamTLS] ?? context(route.upstreamTLS, for: route.path)
            made[route.upstreamTLS] = shared
            contexts.append(shared)
        }
        return contexts
    }

    private static func context(_ tls: RouteConfiguration.UpstreamTLS, for path: String) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        do {
            if let ca = tls.ca { configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(ca)) }
            if let certificate = tls.certificate, let key = tls.key {
                configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map {
                    NIOSSLCertificateSource.certificate($0)
                }
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw GatewayError(
                .upstreamTrust,
                "the route \(path): upstream_ca, upstream_certificate and upstream_key can't be used together (\(error)): give PEM files, the key without a passphrase",
                cause: error)
        }
    }
}
